"""Stage 1: records of documents hold the relations that rows ask for, and no others."""

from __future__ import annotations

from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.errors import QueryError
from penstock.joins import WitnessReader
from penstock.kernel import JoinState, read_record
from penstock.languages.xscl import xscl
from penstock.planning.records import Asked, read_records, write_records
from penstock.planning.templates import JoinQuery, Variable, compile_join
from penstock.twigs import Event
from penstock_testing.generate import random_stream, random_xscl
from penstock_testing.reference import Arrival
from penstock_testing.reference.rows import witness_of
from penstock_testing.tree import parse
from tests.unit.planning.templates import test_running_example as example

Span = tuple[int, int]
Edges = set[tuple[Variable, Variable, Span, Span]]
Values = set[tuple[Variable, Span, str]]


def native(queries: list[JoinQuery], arrival: Arrival) -> tuple[Edges, Values]:
    """Return the edges and values of a record."""
    joins, asked = JoinState(), Asked()
    for number, query in enumerate(queries):
        joins.add(number, 0, write_records(query))
        read_records(write_records(query), asked)
    data = arrival.tree.text(arrival.tree.root).encode()
    witness = WitnessReader(joins).read(arrival.stream, [data])
    record = joins.record(witness, 0, arrival.id, 0, 0)
    if not record:
        return set(), set()
    numbers = {
        variable: joins.variable(variable.stream, variable.key.encode())
        for variable in asked.numbers
    }
    variables = {number: variable for variable, number in numbers.items()}
    nodes, bindings, listed = read_record(record)
    bound: dict[Variable, list[int]] = {}
    for number, node in bindings:
        bound.setdefault(variables[number], []).append(node)
    if all(len(found) == 1 for found in bound.values()):
        # Edges go without saying where each variable has one node.
        assert listed == []
        edged = {(e.upper, e.lower) for q in queries for t in q.trees for e in t.edges}
        pairs = [(one, other) for one, other in edged if one in bound and other in bound]
        listed = [
            [numbers[one], numbers[other], bound[one][0], bound[other][0]] for one, other in pairs
        ]
    spans = [(start, end) for start, end, _ in nodes]
    edges = {(variables[u], variables[v], spans[one], spans[two]) for u, v, one, two in listed}
    values = {
        (variable, spans[node], str(nodes[node][2]))
        for variable, found in bound.items()
        for node in found
        if nodes[node][2] is not None
    }
    return edges, values


def defined(queries: list[JoinQuery], arrival: Arrival) -> tuple[Edges, Values]:
    """Return what the definitions give, edges between slots alone left out."""
    edges: Edges = set()
    values: Values = set()
    for query in queries:
        for tree in query.trees:
            if tree.stream not in (None, arrival.stream):
                continue
            witness = witness_of(tree, arrival)
            for edge in tree.edges:
                pair = (edge.upper, edge.lower)
                for one, two in witness.edges.get(pair, ()):
                    edges.add((*pair, (one.start, one.end), (two.start, two.end)))
            for place in tree.valued:
                for node in witness.nodes.get(tree.variables[place], ()):
                    span = (node.start, node.end)
                    values.add((tree.variables[place], span, node.string_value()))
    return edges, values


@given(st.randoms(use_true_random=False))
def test_records_hold_what_the_definitions_say(random: Random) -> None:
    queries = []
    for _ in range(random.randint(1, 3)):
        try:
            query = xscl(random_xscl(random))
        except QueryError:
            assume(False)
            raise
        assume(isinstance(query.output, Event))
        compiled = compile_join(query)
        assume(len(compiled.rows) < 2)
        queries.append(compiled)
    document = random_stream(random)[0]
    assert isinstance(document.data, bytes)
    arrival = Arrival("d", parse(document.data), 0.0, document.stream)
    (edges, values), (want_edges, want_values) = native(queries, arrival), defined(queries, arrival)
    assert edges == want_edges
    # A node's value is there for all its variables as soon as one of them joins.
    assert want_values <= values
    assert {(span, value) for _, span, value in values} == {
        (span, value) for _, span, value in want_values
    }


def test_the_running_example_gives_table_4() -> None:
    queries = list(example.COMPILED.values())
    for arrival in (example.FIRST, example.SECOND):
        edges, values = native(queries, arrival)
        elements = example.elements(arrival.tree)
        place = {(node.start, node.end): n for n, node in enumerate(elements)}
        named = {
            (example.name(u), example.name(v), place[one], place[two]) for u, v, one, two in edges
        }
        assert named == example.edges(arrival)
        assert {(place[span], value) for _, span, value in values} == example.values(arrival)
