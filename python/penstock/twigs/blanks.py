"""Constants and names that stand for any other, and a record of what was asked of them.

A query is compiled once for all queries of its shape. Its constants are blanks then: whoever
needs to know something of one asks its trace, which answers for the query at hand and writes the
question down. Other constants that give the same answers lead to the same program but for
themselves, because nothing else was known of them. Who looks at a blank without asking gets an
``ExaminedError``, and the query is compiled by itself: forgetting to ask costs time, no result.

A name may be compared with other names: a shape says which of its names are equal. What sorts
names asks for their order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import count
from operator import eq
from typing import Any, NamedTuple, NoReturn
from weakref import WeakValueDictionary

from penstock.twigs.expressions import ValueType

Atom = str | float | bool
"""A constant. Where a blank stands for one, it is typed as one: nobody else needs to know."""


class ExaminedError(Exception):
    """A constant was looked at without asking its trace."""


class Blank:
    """The constant at a place of a trace."""

    __slots__ = ("place", "trace", "type")

    def __init__(self, trace: Trace, place: int, kind: ValueType) -> None:
        self.trace = trace
        self.place = place
        self.type = kind

    def _examined(self, *_: object) -> NoReturn:
        raise ExaminedError

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _examined
    __hash__ = __bool__ = __len__ = __iter__ = __contains__ = _examined
    __str__ = __repr__ = __format__ = _examined
    __int__ = __float__ = __index__ = __round__ = __floor__ = __neg__ = _examined
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = _examined


class NameBlank(str):
    """The name at a place of a trace: a text that no name is, and each has its own."""

    trace: Trace
    place: int

    def __new__(cls, trace: Trace, place: int) -> NameBlank:
        """Return the blank of a name."""
        blank = super().__new__(cls, f"\0{next(_SERIALS)}\0")
        blank.trace, blank.place = trace, place
        _NAMES[str(blank)] = blank
        return blank

    def _examined(self, *_: object) -> NoReturn:
        raise ExaminedError

    __lt__ = __le__ = __gt__ = __ge__ = _examined
    __len__ = __iter__ = __contains__ = __getitem__ = _examined
    startswith = endswith = encode = _examined  # type: ignore[assignment]


_SERIALS = count()
_NAMES: WeakValueDictionary[str, NameBlank] = WeakValueDictionary()
"""Printed forms are plain texts: the blanks in one are found by their own."""
_NAME = re.compile("\0[0-9]+\0")
BLANKS = (Blank, NameBlank)


def names_in(*printed: str) -> tuple[NameBlank, ...]:
    """Return the blanks of names in printed forms, each once."""
    return tuple({text: _NAMES[text] for form in printed for text in _NAME.findall(form)}.values())


class Place(int):
    """Where the value of a blank is found: a question outlives the trace that it was put to."""


class Step(NamedTuple):
    """Something that was asked or computed; a place among the arguments stands for its value."""

    function: Callable[..., Atom]
    arguments: tuple[Any, ...]
    answer: Atom | None
    """None where the value became the next constant instead of being looked at."""


class Trace:
    """The constants and names of one query, and what was asked of them in order."""

    def __init__(self) -> None:
        self.values: list[Atom] = []
        self.steps: list[Step] = []
        self._names: dict[str, NameBlank] = {}

    def blank(self, value: Atom) -> Any:
        """Return a blank that stands for a value and others of its type."""
        self.values.append(value)
        return Blank(self, len(self.values) - 1, type_of_atom(value))

    def name(self, name: str) -> str:
        """Return the blank that stands for a name, the same for each mention."""
        if name not in self._names:
            self._names[name] = NameBlank(self, len(self.values))
            self.values.append(name)
        return self._names[name]

    def ask(self, function: Callable[..., Atom], arguments: Sequence[object]) -> Any:
        """Return what a pure function says of the constants at hand."""
        answer = function(*self._plain(arguments))
        self._note(function, arguments, answer)
        return answer

    def derive(self, function: Callable[..., Atom], arguments: Sequence[object]) -> Any:
        """Return the blank of a value that a pure function makes of others."""
        value = function(*self._plain(arguments))
        self._note(function, arguments, None)
        return self.blank(value)

    def beside(self) -> Beside:
        """Return the trace of a text beside the query, which is the same for all of its shape."""
        return Beside(self)

    def find(self, name: str) -> str:
        """Return the blank of a name that the query mentions, or the name itself."""
        for blank in self._names.values():
            if self.ask(eq, (blank, name)):
                return blank
        return name

    def _note(
        self, function: Callable[..., Atom], arguments: Sequence[object], answer: Atom | None
    ) -> None:
        places = [Place(one.place) if isinstance(one, BLANKS) else one for one in arguments]
        self.steps.append(Step(function, tuple(places), answer))

    def _plain(self, arguments: Sequence[object]) -> list[object]:
        return [self.values[one.place] if isinstance(one, BLANKS) else one for one in arguments]


class Beside:
    """What a text beside a query makes of its constants and names.

    They stand in every program of the shape. Whether a name is one of the query's is a question.
    """

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def blank(self, value: Atom) -> Any:
        """Return the constant itself."""
        return value

    def name(self, name: str) -> str:
        """Return the blank of a name that the query mentions too, or the name."""
        return self._trace.find(name)


def replay(steps: Sequence[Step], values: list[Atom]) -> bool:
    """Return whether constants give the same answers; computed ones are added to ``values``."""
    for function, arguments, answer in steps:
        found = function(*[values[one] if type(one) is Place else one for one in arguments])
        if answer is None:
            values.append(found)
        elif found is not answer and (type(found) is not type(answer) or found != answer):
            return False
    return True


def trace_of(atoms: Sequence[object]) -> Trace | None:
    """Return the trace of the blanks among some constants, or None if there are none."""
    return next((one.trace for one in atoms if isinstance(one, BLANKS)), None)


def type_of_atom(value: object) -> ValueType:
    """Return the type of a constant."""
    if isinstance(value, Blank):
        return value.type
    if isinstance(value, bool):
        return ValueType.BOOLEAN
    return ValueType.STRING if isinstance(value, str) else ValueType.NUMBER
