"""Several configurations: one for each type of documents, chosen by the root element."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penstock.routing.configuration import Configuration
from penstock.routing.headers import stamp

_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?(?:\s+|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
_TAG = re.compile(rb"<([^\s/>!?]+)((?:[^>\"']|\"[^\"]*\"|'[^']*')*)>")
_DECLARATION = re.compile(rb"\sxmlns(?::([^\s=]+))?\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")


def root_name(document: bytes) -> str | None:
    """Return the name of the root element as ``{uri}local``.

    None if it is not found at a glance: the document has a type declaration, or is not in UTF-8.
    """
    prolog = _PROLOG.match(document)
    tag = _TAG.match(document, prolog.end() if prolog else 0)
    if tag is None:
        return None
    prefix, _, local = tag[1].rpartition(b":")
    uris = {name: double or single for name, double, single in _DECLARATION.findall(tag[2])}
    uri = uris.get(prefix, b"")
    try:
        name = local.decode()
        return f"{{{uri.decode()}}}{name}" if uri else name
    except UnicodeDecodeError:
        return None


class Catalog:
    """Configurations by the name of the root element; ``default`` is for all others.

    ``*`` in place of the local name stands for every name of a namespace.
    """

    def __init__(
        self, by_root: Mapping[str, Configuration], default: Configuration | None = None
    ) -> None:
        self._by_root = dict(by_root)
        self._default = default

    def configuration(self, document: bytes) -> Configuration | None:
        """Return the configuration of a document, or None."""
        name = root_name(document)
        if name is None:
            return self._default
        found = self._by_root.get(name)
        if found is None and name.startswith("{"):
            found = self._by_root.get(name[: name.rindex("}") + 1] + "*")
        return found or self._default

    def stamp(self, document: bytes, encoding: str | None = None) -> bytes | None:
        """Return the header of a document by its own configuration; None if it has none.

        Raises:
            DocumentError: The document is not well-formed.
        """
        configuration = self.configuration(document)
        return None if configuration is None else stamp(document, configuration, encoding)
