"""The document types of the broker's workload, Bib without recursion and Book with it.

``chain`` is the rewriting of paths that the workload counts plans with (section 5.1 of the paper
on message brokering). It is written here once more, so that it can be held against the package's.
"""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.workloads.dtd import Schema

FOLDER = Path(__file__).parent

Step = tuple[bool, str]
"""Whether the axis is ``//``, and the name."""
Steps = tuple[Step, ...]


@dataclass(frozen=True)
class Dtd:
    """A document type, and which of its elements the workload binds a variable to."""

    name: str
    bound: frozenset[str]

    @property
    def path(self) -> Path:
        """The file with the declarations."""
        return FOLDER / f"{self.name}.dtd"

    @cached_property
    def schema(self) -> Schema:
        """The declarations."""
        return Schema(self.name, self.path.read_text("utf-8"))

    @cached_property
    def children(self) -> dict[str | None, tuple[str, ...]]:
        """The names below each element; below None, the document, is the root."""
        elements = self.schema.elements.values()
        below = {element.name: element.children for element in elements}
        return {None: (self.schema.root,), **below}

    @cached_property
    def below(self) -> dict[str | None, tuple[str, ...]]:
        """The names at any depth below each element, sorted."""
        return {name: tuple(sorted(self._reach(name))) for name in self.children}

    def _reach(self, name: str | None) -> set[str]:
        reached: set[str] = set()
        waiting = list(self.children[name])
        while waiting:
            child = waiting.pop()
            if child not in reached:
                reached.add(child)
                waiting += self.children[child]
        return reached

    def chain(self, start: str | None, end: str) -> tuple[str, ...] | None:
        """Return the names on the only way from an element down to another, or None.

        There is none where several ways lead there; an element that nests in itself makes that
        endlessly many.
        """
        ways = []
        for child in self.children[start]:
            is_between = end in self.below[child]
            if child == end:
                ways.append((child,))
            if is_between:
                if child in self.below[child]:
                    return None
                rest = self.chain(child, end)
                if rest is None:
                    return None
                ways.append((child, *rest))
        return ways[0] if len(ways) == 1 else None

    @cached_property
    def _rewritten(self) -> dict[tuple[str | None, Steps], Steps]:
        return {}

    def rewrite(self, start: str | None, steps: Steps) -> Steps:
        """Return steps with every ``//`` that has one way only written as that way."""
        written = self._rewritten.get((start, steps))
        if written is None:
            written = self._rewritten[start, steps] = self._rewrite(start, steps)
        return written

    def _rewrite(self, start: str | None, steps: Steps) -> Steps:
        written: list[Step] = []
        for is_deep, name in steps:
            way = self.chain(start, name) if is_deep else None
            written += [(is_deep, name)] if way is None else [(False, one) for one in way]
            start = name
        return tuple(written)


BIB = Dtd("bib", frozenset({"book"}))
BOOK = Dtd("book", frozenset({"section", "p", "figure"}))


def dtd_of(name: str) -> Dtd:
    """Return a document type by its name.

    Raises:
        ValueError: There is none of this name.
    """
    for dtd in (BIB, BOOK):
        if dtd.name == name:
            return dtd
    raise ValueError(f"there is no document type {name!r}; use bib or book")
