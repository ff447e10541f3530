"""The program of a query over several streams.

The body of a program that requests bindings is its sides (stream, how many keys, and a program that
gives their bindings as messages), the edges between keys, how far event times may be apart, and the
program of the message, which reads a document of tuples. A message that can be put together from
pieces is there in that form too: the programs of its sides with the number of their pieces, the
selections, the outline, and whether values that are no numbers are errors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

from penstock.planning.bindings.gathering import whole_side
from penstock.planning.bindings.outlines import OutlineJoin, Selection, outline_of
from penstock.planning.bindings.parts import Edge
from penstock.planning.bindings.recognition import recognise
from penstock.planning.program import Request, varint, varints
from penstock.planning.records.encoding import ByteReader, counted, string
from penstock.planning.sequences.programs import compile_sequences
from penstock.twigs import Query


class SideProgram(NamedTuple):
    """What gives the bindings of one side."""

    stream: str
    key_count: int
    program: bytes


@dataclass(frozen=True, slots=True)
class OutlineProgram:
    """How the messages of a query are put together: ``sides`` give values and pieces."""

    sides: tuple[bytes, ...]
    piece_counts: tuple[int, ...]
    selections: tuple[Selection, ...]
    outline: bytes
    is_strict: bool
    """A value that is compared with a number and is none is an error."""

    @property
    def name(self) -> str:
        """The name of the element that each message is."""
        return ByteReader(self.outline, 0).string()


@dataclass(frozen=True, slots=True)
class BindingProgram:
    """A query over several streams, as its program says it."""

    sides: tuple[SideProgram, ...]
    edges: tuple[Edge, ...]
    within_us: int | None
    message: bytes
    outline: OutlineProgram | None

    @property
    def by_document(self) -> tuple[bool, ...]:
        """Which sides also join by their document: it is the key behind the others."""
        ends = {end for edge in self.edges for end in edge}
        return tuple([(n, side.key_count) in ends for n, side in enumerate(self.sides)])

    @classmethod
    def read(cls, program: bytes) -> BindingProgram:
        """Return what the bytes of a program say."""
        reader = ByteReader(program, len(Request.BINDINGS.head))
        sides = reader.many(lambda: SideProgram(reader.string(), reader.number(), reader.counted()))
        ends = [tuple(numbers) for numbers in reader.many(reader.numbers)]
        edges = [Edge((a, b), (c, d)) for a, b, c, d in ends]
        within = reader.number()
        within_us = within - 1 if within else None
        message = reader.counted()
        outline = _read_outline(reader) if reader.number() else None
        return cls(tuple(sides), tuple(edges), within_us, message, outline)


def compile_bindings(query: Query) -> bytes:
    """Return the program of a query over several streams.

    Raises:
        QueryError: It is none that can be joined.
    """
    join, output = recognise(query)
    parts = [Request.BINDINGS.head, varint(len(join.sides))]
    for side in join.sides:
        program = whole_side(side, output)
        parts += [string(side.stream), varint(len(side.keys)), counted(program)]
    parts.append(varint(len(join.edges)))
    parts += [varints(4, *edge.left, *edge.right) for edge in join.edges]
    within = output.within_us
    parts.append(varint(0 if within is None else within + 1))
    parts.append(counted(compile_sequences(replace(output, body=join.message()))))
    outline = outline_of(join, output)
    parts.append(b"\0" if outline is None else b"\1" + _written(outline, output.untyped == "error"))
    return b"".join(parts)


def _written(outline: OutlineJoin, is_strict: bool) -> bytes:
    parts = []
    for program, count in zip(outline.sides, outline.piece_counts, strict=True):
        parts += [counted(program), varint(count)]
    parts.append(varint(len(outline.selections)))
    for one in outline.selections:
        parts.append(varints(one.side, one.attribute, one.operator) + string(one.constant))
    parts += [counted(outline.outline), varint(is_strict)]
    return varint(len(outline.sides)) + b"".join(parts)


def _read_outline(reader: ByteReader) -> OutlineProgram:
    sides = reader.many(lambda: (reader.counted(), reader.number()))
    selections = reader.many(
        lambda: Selection(reader.number(), reader.number(), reader.number(), reader.string())
    )
    programs, counts = zip(*sides, strict=True)
    return OutlineProgram(
        programs, counts, tuple(selections), reader.counted(), bool(reader.number())
    )
