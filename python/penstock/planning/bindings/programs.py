"""The program of a query over several streams.

The body of a program that requests bindings is its sides (stream, how many keys, and a program that
gives their bindings as messages), the edges between keys, how far event times may be apart, and the
program of the message, which reads a document of tuples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

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
class BindingProgram:
    """A query over several streams, as its program says it."""

    sides: tuple[SideProgram, ...]
    edges: tuple[Edge, ...]
    within_us: int | None
    message: bytes

    @classmethod
    def read(cls, program: bytes) -> BindingProgram:
        """Return what the bytes of a program say."""
        reader = ByteReader(program, len(Request.BINDINGS.head))
        sides = reader.many(lambda: SideProgram(reader.string(), reader.number(), reader.counted()))
        ends = [tuple(numbers) for numbers in reader.many(reader.numbers)]
        edges = [Edge((a, b), (c, d)) for a, b, c, d in ends]
        within = reader.number()
        return cls(tuple(sides), tuple(edges), within - 1 if within else None, reader.counted())


def compile_bindings(query: Query) -> bytes:
    """Return the program of a query over several streams.

    Raises:
        QueryError: It is none that can be joined.
    """
    join, output = recognise(query)
    parts = [Request.BINDINGS.head, varint(len(join.sides))]
    for side in join.sides:
        gathering = replace(output, body=side.body())
        program = compile_sequences(gathering, side.stream, has_items=True)
        parts += [string(side.stream), varint(len(side.keys)), counted(program)]
    parts.append(varint(len(join.edges)))
    parts += [varints(4, *edge.left, *edge.right) for edge in join.edges]
    within = output.within_us
    parts.append(varint(0 if within is None else within + 1))
    parts.append(counted(compile_sequences(replace(output, body=join.message()))))
    return b"".join(parts)
