"""Compiling many texts of few shapes: a shape is compiled once, its queries are filled in.

The second text of a shape is compiled once more with marks in its slots. Nothing is known of a
mark but which others are equal to it, and planning asks of names and constants nothing else. So a
mark stands in the program wherever the name or constant would, as a string with its length: that
gives a *recipe*, the program with gaps and with lengths that are counted when the gaps are filled.
A program that is filled in is, byte for byte, the one that the text would have been compiled to.

There are recipes for queries that the broker serves. A text whose names or constants are equal to
strings that its program has anyway, such as the name of a function, is compiled by itself: equal
strings are there once.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from penstock.errors import PenstockError
from penstock.languages.xpath.tokens import NC_NAME
from penstock.languages.xquery.skeletons import DECIMAL, INTEGER, MARK, Slots, split
from penstock.planning import program as p
from penstock.planning.sequences.encoding import MAGIC
from penstock.planning.sequences.programs import Length, lengths_in

SHAPES_MAX = 10_000
"""Shapes that are remembered; the table starts anew when it is full."""

ONCE_MAX = 100_000
"""Shapes of which it is remembered that they occurred."""

_DIGITS = "831459206"
"""What numbers begin with that mark slots."""

_CODE = MAGIC.decode()
_WORD = re.compile(NC_NAME)

_Equal = tuple[int, ...]
_Key = tuple[tuple[str, ...], str, _Equal, str]
_Compile = Callable[[str, Mapping[str, Any] | None], bytes]
_Piece = bytes | int | list[Any]
"""Bytes, the number of a value, or pieces that are counted."""


class SequenceTexts:
    """Compiles texts in XQuery, and remembers their shapes.

    It is a cache of pure results: which texts came before never changes a program.
    """

    def __init__(self, compile_one: _Compile) -> None:
        self._compile = compile_one
        self._shapes: dict[_Key, Recipe | None] = {}
        self._once: set[int] = set()

    def compile(self, text: str, options: Mapping[str, Any] | None = None) -> bytes:
        """Return the program of a text; ``options`` are those of ``xquery``.

        Raises:
            QueryError: The text is no query, or not one that is evaluated.
        """
        found = split(text)
        if found is None or (options and "variables" in options):
            return self._compile(text, options)
        values, equal = _distinct(found.values)
        named = json.dumps(options, sort_keys=True) if options else ""
        key = (found.pieces, found.kinds, equal, named)
        recipe = self._shapes.get(key)
        made = None if recipe is None else recipe.fill(values)
        if made is not None:
            return made
        program = self._compile(text, options)
        if recipe is None and self._is_repeated(key):
            self._shapes[key] = self._learn(found, equal, options, program)
        return program

    def _is_repeated(self, key: _Key) -> bool:
        """Whether it is the second text of a shape, which makes the recipe."""
        # Most shapes of a varied set never come again; all that is kept of them is a hash.
        if key in self._shapes:
            return False
        if len(self._shapes) >= SHAPES_MAX:
            self._shapes.clear()
        if len(self._once) >= ONCE_MAX:
            self._once.clear()
        number = hash(key)
        is_known = number in self._once
        self._once.add(number)
        return is_known

    def _learn(
        self, found: Slots, equal: _Equal, options: Mapping[str, Any] | None, program: bytes
    ) -> Recipe | None:
        if any(_DIGITS in piece or _CODE in piece for piece in found.pieces):
            return None
        marks = _marks(found.kinds, equal)
        in_slots = [
            f"{marks[number]}.0" if kind == DECIMAL else marks[number]
            for number, kind in zip(equal, found.kinds, strict=True)
        ]
        try:
            marked = self._compile(found.filled(in_slots), options)
        except PenstockError:
            return None  # the error is told with the names and constants of the text
        recipe = make_recipe(marked, marks, _WORD.findall(" ".join(found.pieces)))
        values, _ = _distinct(found.values)
        return recipe if recipe is not None and recipe.fill(values) in (program, None) else None


class Recipe(NamedTuple):
    """The program of all texts of a shape, with gaps for its values."""

    pieces: list[_Piece]
    taken: frozenset[str]
    """Strings that the program has anyway."""

    def fill(self, values: Sequence[str]) -> bytes | None:
        """Return the program for values; None if one of them is a string that it has anyway."""
        if not self.taken.isdisjoint(values):
            return None
        return _filled(self.pieces, [p.constant_bytes(value) for value in values])


def make_recipe(program: bytes, marks: Sequence[str], words: Sequence[str]) -> Recipe | None:
    """Return the recipe of a program with marks; None if one is missing, or part of something.

    ``words`` stand in all texts of the shape.
    """
    lengths, strings = lengths_in(program)
    if not lengths:
        return None
    encoded = {p.constant_bytes(mark): number for number, mark in enumerate(marks)}
    gaps = [
        Gap(one.start(), one.end(), encoded[one[0]])
        for one in re.finditer(_one_of(encoded), program)
    ]
    is_whole = len(re.findall(_one_of([mark.encode() for mark in marks]), program)) == len(gaps)
    if not is_whole or len({gap.value for gap in gaps}) < len(marks):
        return None
    items: list[Length | Gap] = [*lengths, *gaps]
    items.sort(key=itemgetter(0))
    pieces = _cut(program, 0, len(program), deque(items))
    return Recipe(pieces, frozenset([*strings, *words]).difference(marks))


class Gap(NamedTuple):
    """Where a value stands in a program, with its length."""

    start: int
    end: int
    value: int


def _one_of(texts: Iterable[bytes]) -> bytes:
    return b"|".join(map(re.escape, texts))


def _cut(program: bytes, start: int, end: int, items: deque[Length | Gap]) -> list[_Piece]:
    """Return a part of a program as pieces; its gaps and lengths are taken from ``items``."""
    pieces: list[_Piece] = []
    while items and items[0][0] < end:
        item = items.popleft()
        pieces.append(program[start : item[0]])
        if isinstance(item, Length):
            pieces.append(_cut(program, item.start, item.end, items))
        else:
            pieces.append(item.value)
        start = item.end
    return [*pieces, program[start:end]]


def _filled(pieces: Sequence[_Piece], values: Sequence[bytes]) -> bytes:
    parts = []
    for piece in pieces:
        if isinstance(piece, int):
            parts.append(values[piece])
        elif isinstance(piece, bytes):
            parts.append(piece)
        else:
            inside = _filled(piece, values)
            parts += (p.varint(len(inside)), inside)
    return b"".join(parts)


def _distinct(values: Sequence[str]) -> tuple[list[str], _Equal]:
    """Return values, each once, and for each slot the number of its value."""
    numbers: dict[str, int] = {}
    equal = tuple([numbers.setdefault(value, len(numbers)) for value in values])
    return [*numbers], equal


def _marks(kinds: str, equal: _Equal) -> list[str]:
    """Return a mark for each value: a number where one has to stand in a slot, else a name."""
    pairs = zip(equal, kinds, strict=True)
    numbers = {number for number, kind in pairs if kind in (INTEGER, DECIMAL)}
    return [
        f"{_DIGITS}{number:05}" if number in numbers else f"{MARK}{number}{MARK}"
        for number in range(max(equal, default=-1) + 1)
    ]
