"""Queries over several streams as joins of documents: streams of sides, and their order."""

from __future__ import annotations

import penstock
from penstock.planning.bindings import BindingProgram
from penstock.planning.bindings.records import BindingRecords
from penstock.planning.programs import compile_program
from penstock.planning.records import output_of

THREE = (
    "for $a in stream('s')//x, $b in stream('s')//x, $c in stream('t')//y "
    "where $a/k = $c/k and $b/k = $c/k return <m>{$a, $b, $c}</m>"
)


def records_of(text: str) -> BindingRecords:
    program = compile_program(penstock.xquery(text, within="INF"))
    return BindingRecords.of(BindingProgram.read(program))


def test_each_side_follows_one_that_an_equality_leads_to() -> None:
    assert records_of(THREE).order == (0, 2, 1)


def test_equal_sides_of_one_query_have_streams_of_their_own() -> None:
    first, second, other = records_of(THREE).streams
    assert first != second
    assert first.rpartition(".")[0] == second.rpartition(".")[0] != other.rpartition(".")[0]


def test_equal_sides_of_two_queries_share_a_stream() -> None:
    pair = records_of(
        "for $z in stream('s')//x, $c in stream('u')//y where $z/k = $c/l return <m>{$z}</m>"
    )
    assert pair.streams[0] == records_of(THREE).streams[0]
    assert pair.streams[1] != records_of(THREE).streams[2]


def test_results_select_the_fragments_by_side() -> None:
    output = output_of(records_of(THREE).program)
    assert output.event.select == ("f0", "f1", "f2")
    assert output.may_repeat
    assert [stream and stream[0] for stream in output.streams] == ["\1"] * 3


def test_lowering_is_pure() -> None:
    assert records_of(THREE).program == records_of(THREE).program
