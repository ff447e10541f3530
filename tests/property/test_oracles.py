"""The engine decides as early as three-valued logic allows, and holds no more than it has to.

Only a query whose results may lie behind the node that selects them holds more; how much, each
run records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from penstock.kernel import trace
from penstock.planning.compile import compile_query
from penstock.twigs import Aggregate, Fragments, Query, Selection
from penstock_testing.kleene import earliest, known_at, steps
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.property.probes import (
    Findings,
    Mutant,
    defer_to_end_tags,
    examine,
    hold_nothing,
    hold_to_frame_close,
    ideal_trace,
    take_all_candidates,
)
from tests.property.runs import (
    CHUNKS,
    PAIRS,
    Draw,
    cases,
    lasts,
    looks_back,
    orders_what_grows_backwards,
    paths,
    positions,
    shared_sets,
    summaries,
    trace_of,
    traces_of,
    twig_values,
    twigs,
    values,
)

PAIRS_SLOW = 100_000
PATHS_SLOW = 20_000
DRAWS = pytest.mark.parametrize("draw", [twigs, paths, positions])
VALUES = pytest.mark.parametrize("draw", [twig_values, values])


def check(draw: Draw, first: int, count: int) -> Counter[str]:
    """Return how many candidates were needed, and how many held without need."""
    counts: Counter[str] = Counter()
    for seed, (expression, query, tree) in enumerate(cases(draw, first, count), first):
        expected = steps(query, tree, is_order_late=orders_what_grows_backwards(query))
        findings = examine(trace_of(query, tree, CHUNKS[seed % len(CHUNKS)]), expected, tree)
        blamed = (expression, tree.source.decode(), findings)
        assert findings.is_in_time, blamed
        assert looks_back(query) or not findings.overheld, blamed
        counts["needed"] += sum(len(step.needed) for step in expected)
        counts["overheld"] += len(findings.overheld)
    return counts


@pytest.mark.parametrize("draw", [twigs, paths, shared_sets, positions, lasts, summaries])
def test_the_kernel_is_never_wrong_and_never_late(
    draw: Draw, record_property: Callable[[str, object], None]
) -> None:
    counts = check(draw, 0, PAIRS)
    record_property("overheld_per_needed", counts["overheld"] / counts["needed"])


@pytest.mark.slow
def test_the_kernel_is_never_wrong_late_or_overholding_on_many_pairs() -> None:
    check(twigs, 1_000_000, PAIRS_SLOW)


@pytest.mark.slow
def test_the_kernel_is_never_wrong_and_never_late_on_many_expressions() -> None:
    check(paths, 1_000_000, PATHS_SLOW)
    check(positions, 1_000_000, PATHS_SLOW)
    check(shared_sets, 1_000_000, PATHS_SLOW)
    check(summaries, 1_000_000, PATHS_SLOW)


def is_aggregate(query: Query) -> bool:
    output = query.output
    return isinstance(output, Aggregate) or (
        isinstance(output, Selection) and output.aggregate is not None
    )


def check_values(draw: Draw, first: int, count: int) -> None:
    for seed, (expression, query, tree) in enumerate(cases(draw, first, count), first):
        if is_aggregate(query):
            continue  # what it counts is decided node by node, and known when the document ends
        done = trace_of(query, tree, CHUNKS[seed % len(CHUNKS)])
        answered = [event for event, step in enumerate(done) for _ in step.decided]
        assert len(answered) == 1, (expression, tree.source.decode(), answered)
        due = known_at(query, tree, is_order_late=orders_what_grows_backwards(query))
        assert answered[0] <= due, (expression, tree.source.decode(), answered, due)


@VALUES
def test_the_kernel_answers_once_and_as_soon_as_the_value_is_known(draw: Draw) -> None:
    check_values(draw, 0, PAIRS)


@pytest.mark.slow
@VALUES
def test_the_kernel_answers_as_soon_as_the_value_is_known_on_many_pairs(draw: Draw) -> None:
    check_values(draw, 1_000_000, PAIRS_SLOW // 10)


def together(draws: list[Draw], first: int, count: int) -> float:
    """Return what a shared run holds per candidate that the queries alone hold."""
    held = needed = 0
    for group_first in range(first, first + count, 5):
        drawn = [
            query
            for place in range(5)
            for _, query, _ in cases(draws[place % len(draws)], group_first + place, 1)
        ]
        tree = parse(twigs(Random(group_first))[1])
        alone = [trace_of(query, tree, CHUNKS[2]) for query in drawn]
        for event, (_, decided, kept) in enumerate(traces_of(drawn, tree)):
            for place, own in enumerate(alone):
                found = sorted((start, end) for number, start, end in decided if number == place)
                assert found == sorted(own[event].decided), drawn[place].text
            union = {start for own in alone for start in own[event].held}
            assert union <= set(kept)
            held, needed = held + len(set(kept)), needed + len(union)
    return held / max(needed, 1)


@pytest.mark.parametrize(
    "draws",
    [[twigs], [paths], [twigs, paths, values]],
    ids=["twigs", "paths", "mixed"],
)
def test_queries_together_decide_what_each_decides_alone(
    draws: list[Draw], record_property: Callable[[str, object], None]
) -> None:
    """What a shared run holds beyond the union of the needs is recorded, not judged."""
    record_property("held_together_per_needed", together(draws, 0, PAIRS))


@pytest.mark.slow
def test_many_queries_together_decide_what_each_decides_alone() -> None:
    together([twigs, paths, values], 1_000_000, PATHS_SLOW)


@DRAWS
def test_a_filter_matches_where_the_query_has_a_result(draw: Draw) -> None:
    for expression, query, tree in cases(draw, 0, PAIRS):
        found = evaluate(query, tree)
        program = compile_query(query, is_filter=True)
        matched = [row for _, decided, _ in trace([program], tree.source) for row in decided]
        assert len(matched) == bool(found), (expression, tree.source.decode())


@DRAWS
def test_the_oracle_finds_the_results_of_the_reference(draw: Draw) -> None:
    for expression, query, tree in cases(draw, 0, PAIRS):
        found = earliest(query, tree)
        assert sorted(found, key=lambda node: node.order) == evaluate(query, tree), expression


@VALUES
def test_values_are_known_at_the_end_at_the_latest(draw: Draw) -> None:
    for _, query, tree in cases(draw, 0, PAIRS):
        assert not isinstance(query.output, Fragments)
        assert 0 <= known_at(query, tree) < len(tree.events)


def findings_of(draw: Draw, mutant: Mutant) -> list[Findings]:
    """Return what the examination finds of an ideal engine that was then spoilt."""
    found = []
    for _, query, tree in cases(draw, 0, 200):
        expected = steps(query, tree)
        found.append(examine(mutant(ideal_trace(expected, tree), tree), expected, tree))
    return found


@DRAWS
def test_an_ideal_engine_passes(draw: Draw) -> None:
    assert all(findings.is_clean for findings in findings_of(draw, lambda trace, _: trace))


@DRAWS
def test_the_oracle_finds_an_engine_that_defers_decisions_to_end_tags(draw: Draw) -> None:
    found = findings_of(draw, defer_to_end_tags)
    assert any(findings.late for findings in found)
    assert not any(findings.wrong for findings in found)


@DRAWS
def test_the_oracle_finds_an_engine_that_holds_to_frame_close(draw: Draw) -> None:
    found = findings_of(draw, hold_to_frame_close)
    assert any(findings.overheld for findings in found)
    assert not any(findings.wrong or findings.late for findings in found)


@DRAWS
def test_the_oracle_finds_an_engine_that_does_not_hold(draw: Draw) -> None:
    assert any(findings.lost for findings in findings_of(draw, hold_nothing))


@DRAWS
def test_the_oracle_finds_an_engine_that_takes_all_candidates(draw: Draw) -> None:
    assert any(findings.wrong for findings in findings_of(draw, take_all_candidates))
