"""Stage 1 for SQL: the rows of a document are its witnesses by their definition."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import penstock
from papers.mmqjp.spark import witnesses
from papers.mmqjp.spark.rounds import Plan
from papers.mmqjp.spark.witnesses import Reading, read
from penstock.errors import QueryError
from penstock.kernel import witness_columns
from penstock.limits import Limits
from penstock.planning.programs import compile_program
from penstock.planning.templates import Edge, Variable, compile_join
from penstock.twigs import Event
from penstock_testing.generate import random_stream, random_xscl
from penstock_testing.reference import Arrival
from penstock_testing.reference.rows import witness_of
from penstock_testing.tree import parse

Span = tuple[int, int]
NUMBERS = count()


def rows_of(plan: Plan, documents: list[penstock.Document]) -> list[dict[str, Any]]:
    """Return what the workers write for documents, numbered from 0."""
    columns = {
        "document": pa.array([one.data for one in documents], pa.binary()),
        "id": pa.array([one.id for one in documents]),
        "time": pa.array([one.event_time for one in documents], pa.timestamp("us", "UTC")),
        "stream": pa.array([one.stream for one in documents]),
        "number": pa.array(range(len(documents))),
        "time_us": pa.array([round(float(str(one.time)) * 1e6) for one in documents]),
    }
    # Readers are kept by name, and each plan has its own.
    reading = Reading(f"test {next(NUMBERS)}", plan.paths, Limits(), is_text=False)
    batches = read(reading, iter([pa.RecordBatch.from_pydict(columns)]))
    return [row for batch in batches for row in batch.to_pylist()]


@given(st.randoms(use_true_random=False))
def test_edges_and_values_are_those_of_the_definitions(random: Random) -> None:
    try:
        query = penstock.xscl(random_xscl(random))
        assume(isinstance(query.output, Event))
        plan = Plan({"q": compile_program(query)})
    except QueryError:
        assume(False)
    documents = random_stream(random)
    written = rows_of(plan, documents)
    spans = {
        (row["document"], row["node"]): (row["start"], row["end"])
        for row in written
        if row["kind"] == "node"
    }

    def found(variable: Variable, number: int) -> set[tuple[Span, str | None]]:
        return {
            (spans[number, row["node"]], row["value"])
            for row in written
            if row["kind"] == "binding"
            and (row["document"], row["variable"]) == (number, plan.number(variable))
        }

    def pairs(edge: Edge, number: int) -> set[tuple[Span, Span]]:
        wanted = plan.edge_number(edge)
        return {
            (spans[number, row["above"]], spans[number, row["node"]])
            for row in written
            if row["kind"] == "edge" and (row["document"], row["edge"]) == (number, wanted)
        }

    for number, one in enumerate(documents):
        assert isinstance(one.data, bytes)
        arrival = Arrival(str(one.id), parse(one.data), 0.0, one.stream)
        for tree in compile_join(query).trees:
            if tree.stream != one.stream:
                continue
            witness = witness_of(tree, arrival)
            for edge in tree.edges:
                assert pairs(edge, number) == {
                    ((up.start, up.end), (low.start, low.end))
                    for up, low in witness.edges[edge.upper, edge.lower]
                }
            for place in tree.valued:
                variable = tree.variables[place]
                assert found(variable, number) == {
                    ((node.start, node.end), node.string_value())
                    for node in witness.nodes[variable]
                }


def test_bytes_that_are_no_record_are_refused() -> None:
    with pytest.raises(ValueError, match="these bytes are no record"):
        witness_columns([b"abcd" * 20], [])


def test_readers_are_kept_for_the_next_task() -> None:
    plan = Plan({"q": compile_program("S//a->x", language="xscl")})
    reading = Reading("kept", plan.paths, Limits(), is_text=False)
    assert list(read(reading, iter([]))) == []
    assert ("kept", Limits()) in witnesses._idle


def test_a_document_that_its_source_could_not_read_is_an_error() -> None:
    plan = Plan(
        {
            "q": compile_program(
                "S//a->x[./k->y] FOLLOWED BY{y=z,9} S//a->v[./k->z]", language="xscl"
            )
        }
    )
    reading = Reading("faults", plan.paths, Limits(), is_text=True, has_faults=True)
    fault = {"code": "PS0002", "reason": "damaged", "byte": 7, "line": 0, "path": ""}
    columns = {
        "document": pa.array(["<a><k>1</k></a>", None, "<a><k>1</k></a>", "<a>"]),
        "id": pa.array(["0", "1", "2", "3"]),
        "time": pa.array([0, None, 2, 3], pa.timestamp("us", "UTC")),
        "stream": pa.array(["S"] * 4),
        "number": pa.array(range(4)),
        "time_us": pa.array(range(4)),
        "fault": pa.array([None, fault, fault, None]),
    }
    batches = read(reading, iter([pa.RecordBatch.from_pydict(columns)]))
    rows = [row for batch in batches for row in batch.to_pylist()]
    assert [row["id"] for row in rows if row["kind"] == "document"] == ["0"]
    failed = {row["id"]: row for row in rows if row["kind"] == "error"}
    assert list(failed) == ["1", "2", "3"]
    assert [failed[id_]["error"]["reason"] for id_ in "12"] == ["damaged"] * 2
    assert [failed[id_]["source"] for id_ in "123"] == [None, b"<a><k>1</k></a>", b"<a>"]
