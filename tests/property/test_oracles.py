"""The engine decides as early and holds as little as three-valued logic allows.

``PENSTOCK_PAIRS`` sets the number of random pairs of the default run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from random import Random

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.planning.normalise import normalise
from penstock.testing.generate import (
    NAMESPACES,
    DocumentKnobs,
    ExpressionKnobs,
    random_document,
    random_expression,
)
from penstock.testing.kleene import Step, earliest, known_at, steps
from penstock.testing.reference import evaluate
from penstock.testing.tree import Tree, parse
from penstock.twigs import Aggregate, Fragments, Query
from tests.property.probes import (
    Findings,
    Mutant,
    Trace,
    TraceStep,
    defer_to_end_tags,
    examine,
    hold_nothing,
    hold_to_frame_close,
    ideal_trace,
    take_all_candidates,
)

PAIRS = int(os.environ.get("PENSTOCK_PAIRS", "400"))
PAIRS_SLOW = 100_000
CHUNKS = (1, 7, 1 << 16)
NODES = ExpressionKnobs(values=0, predicate=0.5)
VALUES = ExpressionKnobs(values=1)
DOCUMENTS = DocumentKnobs(nodes_max=14)

KernelStep = tuple[int, list[tuple[int, int, int]], list[int]]


def cases(first: int, count: int) -> Iterator[tuple[str, Query, Tree, list[Step]]]:
    """Yield random pairs with what the oracle says of them; refused queries are left out."""
    for seed in range(first, first + count):
        random = Random(seed)
        expression = random_expression(random, NODES)
        tree = parse(random_document(random, DOCUMENTS))
        try:
            query = normalise(xpath(expression, namespaces=NAMESPACES))
            compile_query(query)
        except QueryError:
            continue  # understood, but not evaluated
        yield expression, query, tree, steps(query, tree)


def trace_of(query: Query, tree: Tree, chunk_bytes: int) -> Trace:
    """Return what the kernel does with the query, fed in chunks of a size."""
    return [
        TraceStep(offset, tuple((start, end) for _, start, end in decided), tuple(held))
        for offset, decided, held in traces_of([query], tree, chunk_bytes)
    ]


def traces_of(queries: list[Query], tree: Tree, chunk_bytes: int = 1 << 16) -> list[KernelStep]:
    """Return what the kernel does with several queries in one pass."""
    from penstock.kernel import trace

    steps: list[KernelStep] = trace(list(map(compile_query, queries)), tree.source, chunk_bytes)
    return steps


def check(first: int, count: int) -> None:
    for seed, (expression, query, tree, expected) in enumerate(cases(first, count), first):
        trace = trace_of(query, tree, CHUNKS[seed % len(CHUNKS)])
        findings = examine(trace, expected, tree)
        assert findings.is_clean, (expression, tree.source.decode(), findings)


def test_the_kernel_is_never_wrong_late_or_overholding() -> None:
    check(0, PAIRS)


@pytest.mark.slow
def test_the_kernel_is_never_wrong_late_or_overholding_on_many_pairs() -> None:
    check(1_000_000, PAIRS_SLOW)


def check_values(first: int, count: int) -> None:
    for seed in range(first, first + count):
        random = Random(seed)
        expression = random_expression(random, VALUES)
        tree = parse(random_document(random, DOCUMENTS))
        try:
            query = normalise(xpath(expression, namespaces=NAMESPACES))
            compile_query(query)
        except QueryError:
            continue  # understood, but not evaluated
        if isinstance(query.output, Aggregate):
            continue  # what it counts is decided node by node, and known when the document ends
        trace = trace_of(query, tree, CHUNKS[seed % len(CHUNKS)])
        answered = [event for event, step in enumerate(trace) for _ in step.decided]
        assert len(answered) == 1, (expression, tree.source.decode(), answered)
        assert answered[0] <= known_at(query, tree), (expression, tree.source.decode(), answered)


def test_the_kernel_answers_once_and_as_soon_as_the_value_is_known() -> None:
    check_values(0, PAIRS)


@pytest.mark.slow
def test_the_kernel_answers_as_soon_as_the_value_is_known_on_many_pairs() -> None:
    check_values(1_000_000, PAIRS_SLOW // 10)


def test_queries_together_decide_what_each_decides_alone(
    record_property: Callable[[str, object], None],
) -> None:
    """What a shared run holds beyond the union of the needs is recorded, not judged."""
    held = needed = 0
    for first in range(0, PAIRS, 5):
        group = [query for _, query, _, _ in cases(first, 5)]
        tree = parse(random_document(Random(first), DOCUMENTS))
        alone = [trace_of(query, tree, CHUNKS[2]) for query in group]
        together = traces_of(group, tree)
        for event, (_, decided, kept) in enumerate(together):
            for place, trace in enumerate(alone):
                found = sorted((start, end) for number, start, end in decided if number == place)
                assert found == sorted(trace[event].decided)
            union = {start for trace in alone for start in trace[event].held}
            assert union <= set(kept)
            held, needed = held + len(set(kept)), needed + len(union)
    record_property("held_together_per_needed", held / max(needed, 1))


def test_the_oracle_finds_the_results_of_the_reference() -> None:
    for expression, query, tree, _ in cases(0, PAIRS):
        found = earliest(query, tree)
        assert sorted(found, key=lambda node: node.order) == evaluate(query, tree), expression


def test_values_are_known_at_the_end_at_the_latest() -> None:
    for seed in range(PAIRS):
        random = Random(seed)
        query = xpath(random_expression(random, VALUES), namespaces=NAMESPACES)
        tree = parse(random_document(random, DOCUMENTS))
        assert not isinstance(query.output, Fragments)
        assert 0 <= known_at(query, tree) < len(tree.events)


def findings_of(mutant: Mutant) -> list[Findings]:
    """Return what the examination finds of an ideal engine that was then spoilt."""
    return [
        examine(mutant(ideal_trace(expected, tree), tree), expected, tree)
        for _, _, tree, expected in cases(0, 200)
    ]


def test_an_ideal_engine_passes() -> None:
    assert all(findings.is_clean for findings in findings_of(lambda trace, _: trace))


def test_the_oracle_finds_an_engine_that_defers_decisions_to_end_tags() -> None:
    found = findings_of(defer_to_end_tags)
    assert any(findings.late for findings in found)
    assert not any(findings.wrong for findings in found)


def test_the_oracle_finds_an_engine_that_holds_to_frame_close() -> None:
    found = findings_of(hold_to_frame_close)
    assert any(findings.overheld for findings in found)
    assert not any(findings.wrong or findings.late for findings in found)


def test_the_oracle_finds_an_engine_that_does_not_hold() -> None:
    assert any(findings.lost for findings in findings_of(hold_nothing))


def test_the_oracle_finds_an_engine_that_takes_all_candidates() -> None:
    assert any(findings.wrong for findings in findings_of(take_all_candidates))
