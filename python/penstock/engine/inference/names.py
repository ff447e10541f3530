"""How names are written in a proposed table: which prefix stands for which namespace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


class Prefixes:
    """A prefix for each namespace; the most frequent one needs none, if all elements have one."""

    def __init__(
        self, counts: Mapping[str, int], known: Mapping[str, Iterable[str]] | None = None
    ) -> None:
        """Choose prefixes for namespaces, by how often elements are in them.

        ``known`` are the prefixes of documents, which are taken where they mean one namespace.
        """
        self._prefixes: dict[str, str] = {}
        self._of_attributes: dict[str, str] = {}
        order = sorted((uri for uri in counts if uri), key=lambda uri: (-counts[uri], uri))
        wanted = {uri: prefix for prefix, uris in sorted((known or {}).items()) for uri in uris}
        for uri in order:
            if uri == order[0] and "" not in counts:
                self._prefixes[uri] = ""
                continue
            prefix = wanted.get(uri) or _from(uri)
            taken = self._prefixes.values()
            number = 2
            while prefix in taken:
                prefix = f"{prefix.rstrip('0123456789')}{number}"
                number += 1
            self._prefixes[uri] = prefix

    def write(self, name: str) -> str:
        """Return a step to ``{uri}local``, ``@{uri}local`` or ``local``."""
        mark, bare = ("@", name[1:]) if name.startswith("@") else ("", name)
        uri, _, local = bare[1:].rpartition("}") if bare.startswith("{") else ("", "", bare)
        if uri == _XML:
            return f"{mark}xml:{local}"
        prefix = self._prefixes.get(uri, "")
        if mark and uri and not prefix:  # an attribute without a prefix is in no namespace
            prefix = self._of_attributes.setdefault(uri, f"{_from(uri)}{len(self._of_attributes)}")
        return f"{mark}{prefix}:{local}" if prefix else f"{mark}{local}"

    def path(self, names: Iterable[str]) -> str:
        """Return a path of names."""
        return "/".join(map(self.write, names))

    def bindings(self, paths: Iterable[str]) -> dict[str, str]:
        """Return what the prefixes of paths stand for."""
        text = " ".join(paths)
        every = [*self._prefixes.items(), *self._of_attributes.items()]
        return {
            prefix: uri
            for uri, prefix in every
            if not prefix or re.search(rf"(?<![\w.-]){re.escape(prefix)}:", text)
        }


def local_of(name: str) -> str:
    """Return the local part of a name."""
    return name.removeprefix("@").rpartition("}")[2]


def uri_of(name: str) -> str:
    """Return the namespace of a name."""
    bare = name.removeprefix("@")
    return bare[1:].rpartition("}")[0] if bare.startswith("{") else ""


def _from(uri: str) -> str:
    """Return a prefix made of a namespace: its last word."""
    words = [word for word in _WORD.findall(uri) if len(word) > 1 and word.lower() != "xml"]
    return (words[-1][:8].lower() if words else "") or "n"


_XML = "http://www.w3.org/XML/1998/namespace"
