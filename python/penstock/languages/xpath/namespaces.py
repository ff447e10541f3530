"""From the prefixes of a query to the namespaces that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.errors import QueryError

NamespaceMap = Mapping[str, str | Iterable[str]]

XML_NAMESPACE = "http://www.w3.org/XML/1998/namespace"
NO_NAMESPACE = ("",)


class Namespaces:
    """The bindings in force: a prefix stands for one URI, several, or a glob with ``*``.

    The empty prefix is the namespace of element names without a prefix; attribute names without
    one are never in a namespace. ``xml`` is always bound.

    Raises:
        QueryError: A binding is not a string, nor a list of strings.
    """

    def __init__(self, bindings: NamespaceMap | None, text: str) -> None:
        self.text = text
        self.bindings: dict[str, tuple[str, ...]] = {"xml": (XML_NAMESPACE,)}
        for prefix, value in (bindings or {}).items():
            self.bindings[prefix] = self._uris(prefix, value)

    def of_element(self) -> tuple[str, ...]:
        """Return the namespaces of an element name without a prefix."""
        return self.bindings.get("", NO_NAMESPACE)

    def of_prefix(self, prefix: str, span: tuple[int, int]) -> tuple[str, ...]:
        """Return the namespaces of a prefix.

        Raises:
            QueryError: Nothing is bound to it.
        """
        uris = self.bindings.get(prefix)
        if uris is None or not prefix:
            message = f"nothing is bound to the prefix `{prefix}`"
            way_out = f"bind it: namespaces={{'{prefix}': 'http://…'}}"
            raise QueryError("PQ0111", message, span, way_out, self.text)
        return uris

    def _uris(self, prefix: object, value: object) -> tuple[str, ...]:
        uris = (value,) if isinstance(value, str) else value
        if isinstance(prefix, str) and isinstance(uris, Iterable) and not isinstance(uris, bytes):
            found = tuple(dict.fromkeys(uris))
            if found and all(isinstance(uri, str) for uri in found):
                return found
        message = f"`{prefix}` is bound to {value!r}, which is no namespace"
        way_out = "bind a prefix to a URI, a list of URIs or a glob: {'p': 'urn:*'}"
        raise QueryError("PQ0118", message, (0, len(self.text)), way_out, self.text)
