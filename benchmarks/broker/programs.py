"""Programs of many FLWR queries, made without their texts.

Small documents are asked by the form of a program for the broker alone. That form is built from
the parts of a query; whatever else a program has comes from the first query of all, which is
compiled from its text. So these programs are for small documents that are read as a whole.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from benchmarks.broker.dtds import Steps
from benchmarks.broker.queries import Comparison, Flwr
from penstock.planning import program as p
from penstock.planning.broker import Brokered, encode_brokered
from penstock.planning.broker.queries import (
    NODE,
    All,
    BindingStep,
    Compare,
    Element,
    Loop,
    Path,
    Piece,
    Step,
)
from penstock.planning.programs import compile_program
from penstock.planning.sequences.programs import IS_BROKERED
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest


def programs_of(queries: Iterable[Flwr]) -> list[bytes]:
    """Return programs whose forms for the broker are those of the queries' texts."""
    frame: tuple[bytes, bytes] | None = None
    programs = []
    for query in queries:
        frame = frame or _frame(compile_program(query.text(), "query", "xquery"))
        form = form_of(query)
        before, after = frame
        programs.append(before + p.varint(len(form)) + form + after)
    return programs


def form_of(query: Flwr) -> bytes:
    """Return the form of a query for the broker."""
    pieces = [Piece(_expression(steps), _steps(steps)) for steps in query.returns]
    message = Element("results", (), (Loop((Element(query.bound, (), tuple(pieces)),)),))
    binding = [BindingStep(step) for step in _steps(query.binding)]
    condition = All(tuple([_compare(comparison) for comparison in query.comparisons]))
    return encode_brokered(Brokered(tuple(binding), condition, message, is_lenient=False))


def split(program: bytes) -> tuple[int, int]:
    """Return where the form of a program begins and where it ends."""
    place = len(p.Request.MESSAGES.head)
    length, place = _varint(program, place)
    flags, place = _varint(program, place + length)
    assert flags & IS_BROKERED, "the broker does not serve this query"
    assert program[place] == 0, "the query reads one stream"
    length, start = _varint(program, place + 1)
    return start, start + length


def _frame(program: bytes) -> tuple[bytes, bytes]:
    start, end = split(program)
    return program[: start - len(p.varint(end - start))], program[end:]


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, place


def _compare(one: Comparison) -> Compare:
    attribute = NodeTest(NodeKind.ATTRIBUTE, one.attribute, ("",)) if one.attribute else None
    path = Path(_steps(one.steps), attribute)
    return Compare(path, one.operator, str(one.constant), is_number=one.operator != "=")


@cache
def _steps(steps: Steps) -> tuple[Step, ...]:
    return tuple(
        [
            Step(
                Axis.DESCENDANT if is_deep else Axis.CHILD,
                NodeTest(NodeKind.ELEMENT, name, ("",)),
            )
            for is_deep, name in steps
        ]
    )


@cache
def _expression(steps: Steps) -> Any:
    expression: Any = q.Variable(NODE)
    for step in _steps(steps):
        expression = x.Step(expression, step.axis, step.test, ())
    return expression
