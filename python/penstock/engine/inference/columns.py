"""The columns that a record has: its values, those in single elements, and lists of others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from penstock.engine.inference.names import Prefixes, local_of
from penstock.engine.inference.records import Path, has_elements
from penstock.engine.inference.shapes import OTHERS, Shape
from penstock.engine.inference.values import Values

COLUMNS_MAX = 300
"""Columns that are proposed, those of structs included."""
_NESTED_MAX = 6
_HEADERS_MAX = 30
_RESERVED = "errors"

HasText = Callable[[Path], bool]
"""Whether elements of a path, from the document on, have text of their own."""


@dataclass(slots=True)
class Proposed:
    """A column, or a struct with columns of its own."""

    words: tuple[str, ...]
    """Local names on the way to it; its name is made of the last of them."""
    path: str
    place: Path
    is_list: bool = False
    columns: list[Proposed] = field(default_factory=list)
    type: str | None = None
    """The type, where it is known without values."""
    values: Values = field(default_factory=Values)
    name: str = ""

    @property
    def is_struct(self) -> bool:
        """Whether it has columns of its own."""
        return bool(self.columns)

    def each(self) -> Iterator[Proposed]:
        """Yield it and all columns inside."""
        yield self
        for column in self.columns:
            yield from column.each()


class ColumnProposer:
    """Proposes columns; there are at most so many in all."""

    def __init__(self, prefixes: Prefixes, has_text: HasText) -> None:
        self._prefixes = prefixes
        self._has_text = has_text
        self._count = 0
        self.left_out = 0

    def columns(self, shape: Shape, place: Path, depth: int = 0) -> list[Proposed]:
        """Return the columns of an element, with names that differ."""
        found = list(self._inside(shape, place, (), depth))
        if self._has_text(place) and not has_elements(shape):
            found.append(Proposed(("value",), ".", place))
        _name(found)
        return found

    def headers(
        self, documents: Shape, record: Path, columns: Sequence[Proposed]
    ) -> list[Proposed]:
        """Return the single values around records, the nearest ones first.

        Their names are none of the columns'.
        """
        found: list[Proposed] = []
        for up in range(1, len(record)):
            around = record[:-up]
            shape = documents
            for name in around:
                shape = shape.below[name]
            inner = {name: one for name, one in shape.below.items() if name != record[-up]}
            alone = Shape(shape.count, shape.documents, inner, shape.most)
            # All of them before the first is changed: attributes extend the path of their element.
            for column in list(self._inside(alone, around, (), _NESTED_MAX)):
                if not column.is_list and column.type is None:
                    column.path = "../" * up + column.path
                    column.words = (local_of(around[-1]), *column.words)
                    found.append(column)
        del found[_HEADERS_MAX:]
        _name(found, {column.name for column in columns})
        return found

    def _inside(
        self, shape: Shape, place: Path, way: Path, depth: int, words: tuple[str, ...] = ()
    ) -> Iterator[Proposed]:
        """Yield what an element has; single elements inside are passed through."""
        for name, below in shape.below.items():
            if name == OTHERS:
                self.left_out += 1
                continue
            here = (*place, name)
            path = self._prefixes.path((*way, name))
            called = (*words, local_of(name))
            is_list = below.most > 1
            if name.startswith("@"):
                yield from self._one(Proposed(called, path, here))
            elif not has_elements(below) or self._has_text(here):
                yield from self._leaf(below, Proposed(called, path, here, is_list))
            elif is_list:
                yield from self._struct(below, Proposed(called, path, here, is_list=True), depth)
            else:
                yield from self._inside(below, here, (*way, name), depth, called)

    def _leaf(self, shape: Shape, column: Proposed) -> Iterator[Proposed]:
        """Yield the text of an element and its attributes."""
        attributes = [name for name in shape.below if name.startswith("@") and name != OTHERS]
        has_text = self._has_text(column.place)
        if attributes and column.is_list:
            inner = [] if not has_text else [Proposed(("value",), ".", column.place)]
            for name in attributes:
                path = self._prefixes.write(name)
                inner.append(Proposed((local_of(name),), path, (*column.place, name)))
            column.columns = [one for each in inner for one in self._one(each)]
            _name(column.columns)
            yield from self._one(column)
            return
        if has_text or not attributes:
            yield from self._one(column)
        for name in attributes:
            path = f"{column.path}/{self._prefixes.write(name)}"
            words = (*column.words, local_of(name))
            yield from self._one(Proposed(words, path, (*column.place, name)))

    def _struct(self, shape: Shape, column: Proposed, depth: int) -> Iterator[Proposed]:
        """Yield a list of structs, or of XML where there are too many of them in each other."""
        if depth < _NESTED_MAX and self._count < COLUMNS_MAX:
            column.columns = self.columns(shape, column.place, depth + 1)
        if not column.columns:
            column.type = "xml"
        yield from self._one(column)

    def _one(self, column: Proposed) -> Iterator[Proposed]:
        if self._count >= COLUMNS_MAX:
            self.left_out += 1
            return
        self._count += 1
        yield column


def _name(columns: Sequence[Proposed], others: Set[str] = frozenset()) -> None:
    """Give columns short names: as many of the last words as tell them apart from all others."""
    lengths = [1 if "/@" not in one.path else min(2, len(one.words)) for one in columns]
    while True:
        names = ["_".join(one.words[-n:]) for one, n in zip(columns, lengths, strict=True)]
        times = Counter(names)
        growing = [
            at
            for at, name in enumerate(names)
            if (times[name] > 1 or name in others) and lengths[at] < len(columns[at].words)
        ]
        if not growing:
            break
        for at in growing:
            lengths[at] += 1
    taken = {_RESERVED, *others}
    for column, name in zip(columns, names, strict=True):
        unique, number = name, 2
        while unique in taken:
            unique, number = f"{name}_{number}", number + 1
        taken.add(unique)
        column.name = unique
