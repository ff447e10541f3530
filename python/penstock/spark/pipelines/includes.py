"""A pipeline's file and the files that it includes, with more subscriptions and sinks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.definitions.mistakes import ConfigurationError
from penstock.definitions.nodes import Fields, Node, parse, read_text

MAIN_KEYS = (
    *("name", "sources", "checkpoint", "limits", "suspend_after"),
    *("trigger", "lateness", "state", "metrics", "spark"),
)
"""What stands in the pipeline's own file."""
SHARED_KEYS = ("registry", "sinks")
"""What may stand in any of the files."""
_HINT = "an included file has registry, sinks and include; all else stands in the pipeline's file"


@dataclass(frozen=True, slots=True)
class Part:
    """The keys of one file, its path, and the paths of those that led to it."""

    fields: Fields
    path: Path
    chain: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """The folder from which the paths of the file are taken."""
        return self.path.absolute().parent


class Parts:
    """All files of a pipeline, the including before the included."""

    def __init__(self, main: Fields, path: Path) -> None:
        """Read everything that is included; mistakes are reported.

        A file that is missing, is no YAML, or was included before is a mistake at the place where
        it is named.
        """
        self._parts: list[Part] = []
        self._is_complete = True
        self._seen = {os.path.realpath(path)}
        waiting = [Part(main, path, (os.path.realpath(path),))]
        while waiting:
            part = waiting.pop()
            self._parts.append(part)
            waiting += reversed(list(self._included(part)))

    def named(self, key: str) -> list[tuple[Node, Path]]:
        """Return the values of a key in all files, each with the folder of its file."""
        return [(part.fields[key], part.folder) for part in self._parts if key in part.fields]

    def require(self, key: str) -> None:
        """Report a key that stands in none of the files, if all could be read."""
        if self._is_complete and not any(part.fields.is_given(key) for part in self._parts):
            node = self._parts[0].fields.node
            node.report(node.missing(key))

    def _included(self, part: Part) -> Iterator[Part]:
        if "include" not in part.fields:
            # One that is misspelt may have named anything.
            self._is_complete &= not part.fields.is_given("include")
            return
        listed = part.fields["include"]
        no_nodes: list[Node] = []
        nodes = listed.attempt(listed.items, no_nodes) if listed.kind == "seq" else [listed]
        for node in nodes:
            try:
                yield self._read(part, node)
            except ConfigurationError as mistake:
                self._is_complete = False
                node.report(mistake)

    def _read(self, part: Part, node: Node) -> Part:
        path = part.path.parent / node.text()
        place = os.path.realpath(path)
        if place in part.chain:
            circle = [os.path.basename(one) for one in part.chain[part.chain.index(place) :]]
            shown = " → ".join([*circle, circle[0]])
            raise node.error("PC0010", f"the file includes itself: {shown}", "remove one of them")
        if place in self._seen:
            raise node.error("PC0010", f"{path} is included twice", "remove one of the two")
        self._seen.add(place)
        try:
            data = path.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            way_out = "paths are taken from the folder of the file that names them"
            raise node.error("PC0008", f"{path} cannot be read: {reason}", way_out) from None
        root = parse(read_text(data, str(path)), str(path), node.holder)[0]
        fields = root.fields(("include", *SHARED_KEYS), hints=dict.fromkeys(MAIN_KEYS, _HINT))
        return Part(fields, path, (*part.chain, place))
