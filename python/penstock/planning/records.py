"""Programs that request records of witnesses, with all that the results of joins need.

Such a program asks for variables and edges, has rows, and says what becomes of results. It knows
nothing of other queries; the native joins find out what it shares with them. The reader is
``crates/joins/src/subscribed.rs``; the two change together.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, fields, is_dataclass, replace
from itertools import chain
from typing import Any

from penstock.planning.program import Request, many, request_of, varint, varints
from penstock.planning.templates import JoinQuery, Template
from penstock.planning.templates.compiling import compile_join
from penstock.planning.templates.texts import JoinTexts
from penstock.planning.templates.writing import RowWriter
from penstock.twigs import Element, Event, Fragments, Insert, JoinKind, Literal, Query

_VALUED, _SELECTED = 1, 2
_OUTPUTS = {kind.__name__: kind for kind in (Element, Event, Fragments, Insert, Literal)}
_TEXTS = JoinTexts()
"""Remembers shapes for the whole process."""


@dataclass(slots=True)
class Asked:
    """Variables and edges as a program lists them."""

    variables: list[tuple[str | None, str]] = field(default_factory=list)
    paths: list[bytes] = field(default_factory=list)
    needs: list[int] = field(default_factory=list)
    edges: list[tuple[int, int, bytes, list[int]]] = field(default_factory=list)

    def variable(self, stream: str | None, key: str) -> int:
        """Admit a variable of a stream and return its number."""
        self.variables.append((stream, key))
        self.paths.append(b"")
        self.needs.append(0)
        return len(self.variables) - 1

    def lead(self, variable: int, program: bytes) -> None:
        """Give a variable its paths."""
        self.paths[variable] = program

    def need(self, variable: int, is_valued: bool, is_selected: bool) -> None:
        """Say what is needed of a variable's nodes."""
        self.needs[variable] |= _VALUED * is_valued | _SELECTED * is_selected

    def edge(self, upper: int, lower: int, program: bytes, places: list[int]) -> None:
        """Ask for the pairs of two variables; without a program, on the paths of the lower."""
        self.edges.append((upper, lower, program, places))

    def program(
        self,
        templates: Iterable[Template | None] = (),
        rows: Iterable[list[int]] = (),
        output: bytes = b"",
    ) -> bytes:
        """Return the program of everything asked for, with rows and what becomes of them."""
        listed = zip(self.variables, self.paths, self.needs, strict=True)
        parts = [Request.RECORDS.head, _bytes(output), varint(len(self.variables))]
        for (stream, key), paths, needs in listed:
            parts += [b"\0"] if stream is None else [b"\1", _string(stream)]
            parts += [_string(key), _bytes(paths), varint(needs)]
        parts.append(varint(len(self.edges)))
        for upper, lower, paths, places in self.edges:
            parts += [varints(upper, lower), _bytes(paths), many(places)]
        parts += _lists([_template_words(template) for template in templates])
        parts += _lists(rows)
        return b"".join(parts)


@dataclass(frozen=True, slots=True)
class JoinOutput:
    """What becomes of the results of a program.

    ``publish`` is the stream that they are published on. ``streams`` are those of the query's
    blocks, in order; ``output`` is the query's, and ``event`` the same as an event. Where state is
    divided, several parts of it may find one and the same result of a query that ``may_repeat``.
    """

    publish: str | None
    streams: tuple[str | None, ...]
    output: Event | Fragments
    event: Event
    may_repeat: bool


def compile_rows(query: Query) -> JoinQuery:
    """Return the rows of a query that joins documents.

    Raises:
        QueryError: It needs something that is not evaluated yet.
    """
    if isinstance(query.output, Fragments):
        # A block of a stream by itself reports events of one node.
        return compile_join(replace(query, output=Event((query.output.variable,))))
    if query.language == "xscl" and query.text:
        compiled = _TEXTS.compile(query.text, query.options, query)
        assert isinstance(compiled, JoinQuery), "only fragments join nothing"
        return compiled
    return compile_join(query)


def compile_program(query: Query) -> bytes:
    """Return the program of a query that joins documents.

    Raises:
        QueryError: It needs something that is not evaluated yet.
    """
    compiled = compile_rows(query)
    is_absence = any(row.kind is JoinKind.NOT_FOLLOWED_BY for row in compiled.rows)
    streams = tuple(block.stream for block in query.blocks)
    may_repeat = is_absence or len(compiled.rows) > 1
    event = compiled.event
    output = (event.publish, streams, query.output, event, may_repeat)
    return write_program(compiled, json.dumps(_plain(output)).encode())


def write_program(query: JoinQuery, output: bytes = b"") -> bytes:
    """Return the program of rows, with what becomes of their results.

    Raises:
        QueryError: A condition needs something that the kernel does not evaluate yet.
    """
    asked = Asked()
    writer = RowWriter(asked)
    rows = writer.rows(query)
    return asked.program(writer.templates, rows, output)


def is_publishing(program: bytes) -> bool:
    """Return whether the results of a program become documents of a stream."""
    # The length of the output before it takes five bytes at most.
    start = len(Request.RECORDS.head)
    return (
        request_of(program) is Request.RECORDS and b"[null, " not in program[start : start + 5 + 7]
    )


def output_of(program: bytes) -> JoinOutput:
    """Return what becomes of the results of a program."""
    length, at, shift = 0, len(Request.RECORDS.head), 0
    while True:
        length |= (program[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if program[at - 1] <= 0x7F:
            return JoinOutput(*_value(json.loads(program[at : at + length])))


def _plain(value: Any) -> Any:
    """Return a value of outputs as JSON has it."""
    if is_dataclass(value):
        return {type(value).__name__: [_plain(getattr(value, one.name)) for one in fields(value)]}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value


def _value(plain: Any) -> Any:
    """Return the value that ``_plain`` made JSON of."""
    if isinstance(plain, dict):
        ((name, values),) = plain.items()
        return _OUTPUTS[name](*map(_value, values))
    return tuple(map(_value, plain)) if isinstance(plain, list) else plain


def _template_words(template: Template | None) -> list[int]:
    """Return a template as words: parents, from one on, and pairs."""
    if template is None:
        return []
    sides = [
        [len(side), *(parent + 1 for parent in side)] for side in (template.left, template.right)
    ]
    return [*chain(*sides), *chain(*template.joins)]


def _lists(lists: Iterable[list[int]]) -> list[bytes]:
    made = [many(words) for words in lists]
    return [varint(len(made)), *made]


def _bytes(content: bytes) -> bytes:
    return varint(len(content)) + content


def _string(text: str) -> bytes:
    return _bytes(text.encode("utf-8", "surrogatepass"))
