"""Compiling many texts of few shapes: a shape is compiled once, its queries are filled in.

The first query of a shape is compiled with blanks, which gives a *form*: the program with gaps,
and the questions that were asked of names and constants on the way. A query of the shape whose
names and constants give the same answers gets its program by filling the gaps, and that program
is, byte for byte, the one it would have been compiled to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from penstock.errors import PenstockError
from penstock.languages.xpath import xpath
from penstock.languages.xpath.plain import plain_query
from penstock.languages.xpath.skeletons import Skeleton, split
from penstock.planning.compile import compile_normal
from penstock.planning.modes import Mode, compile_in_mode, form_in_mode
from penstock.planning.program import Part, constant_bytes
from penstock.twigs.blanks import BLANKS, Atom, ExaminedError, Step, Trace, replay

SHAPES_MAX = 20_000
"""Shapes that are remembered; the table starts anew when it is full."""
FORMS_MAX = 8
"""Forms of one shape: values that give other answers need another."""

_PLAIN_MODES = ("query", "filter")
_Key = tuple[Skeleton, str, str]


class Form(NamedTuple):
    """The program of all queries of a shape whose values give the same answers."""

    steps: tuple[Step, ...]
    pieces: tuple[bytes | int, ...]
    """Bytes, and places of names and constants."""

    def fill(self, atoms: Sequence[Atom]) -> bytes | None:
        """Return the program for names and constants, or None if they give another answer."""
        values = list(atoms)
        if not replay(self.steps, values):
            return None
        return b"".join(
            [
                piece if type(piece) is bytes else constant_bytes(values[piece])  # type: ignore[index]
                for piece in self.pieces
            ]
        )


class Forms:
    """Compiles texts, and remembers their shapes.

    It is a cache of pure results: which texts came before never changes a program.
    """

    def __init__(self) -> None:
        self._shapes: dict[_Key, tuple[Form, ...]] = {}

    def compile(self, text: str, mode: Mode, options: Mapping[str, Any] | None = None) -> bytes:
        """Return the program of a text in XPath; ``options`` are those of ``xpath``.

        Raises:
            QueryError: The text is no query, or not one that is evaluated.
            RegistryError: The mode is none, or not one for this query.
        """
        if mode in _PLAIN_MODES and not options:
            plain = plain_query(text)
            if plain is not None:
                return compile_normal(plain, is_filter=mode == "filter")
        found = split(text)
        if found is None or (options and "variables" in options):
            return _compile(text, mode, options)
        skeleton, values = found
        key = (skeleton, mode, json.dumps(options) if options else "")
        forms = self._shapes.get(key, ())
        for form in forms:
            program = form.fill(values)
            if program is not None:
                return program
        learnt = _form(text, mode, options, values) if len(forms) < FORMS_MAX else None
        program = None if learnt is None else learnt.fill(values)
        if learnt is None or program is None:
            return _compile(text, mode, options)
        self._keep(key, (*forms, learnt))
        return program

    def _keep(self, key: _Key, forms: tuple[Form, ...]) -> None:
        if len(self._shapes) >= SHAPES_MAX:
            self._shapes.clear()
        self._shapes[key] = forms


def _compile(text: str, mode: Mode, options: Mapping[str, Any] | None) -> bytes:
    return compile_in_mode(xpath(text, **(options or {})), mode)


def _form(
    text: str, mode: Mode, options: Mapping[str, Any] | None, values: list[Atom]
) -> Form | None:
    """Return the form of a text, or None if somebody looks at a blank."""
    trace = Trace()
    try:
        query = xpath(text, **(options or {}), trace=trace)
        if list(map(repr, trace.values)) != list(map(repr, values)):
            return None  # a literal that is no constant, such as the target of an instruction
        parts = form_in_mode(query, mode)
    except (ExaminedError, PenstockError):
        return None  # an error is told with the names and constants of the text
    return Form(tuple(trace.steps), tuple(_joined(parts)))


def _joined(parts: list[Part]) -> list[bytes | int]:
    pieces: list[bytes | int] = [b""]
    for part in parts:
        last = pieces[-1]
        if isinstance(part, BLANKS):
            pieces.append(part.place)
        elif isinstance(last, bytes):
            pieces[-1] = last + part
        else:
            pieces.append(part)
    return pieces
