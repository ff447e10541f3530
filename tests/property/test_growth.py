"""Cost follows the input: ten times the records take at most twelve times the counted work.

Work and kept bytes are counted by the kernel; no second is measured.
"""

from __future__ import annotations

from random import Random

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.compile import compile_query
from penstock.planning.normalise import normalise
from penstock_testing.generate.growth import KNOWN, GrowthCase, growth_cases
from penstock_testing.generate.growth_documents import GROUP_RECORDS, SHAPES
from penstock_testing.growth import measure
from penstock_testing.kleene import steps_at
from penstock_testing.peers import Libxml2, is_empty, same, without_document
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse
from tests.engines import ask_kernel, ask_reference
from tests.property.runs import orders_what_grows_backwards, trace_of
from tests.volume import short

SEED = 12
CASES = (*KNOWN, *growth_cases(SEED, 52))
SMALL = 300
WORK_MAX, KEPT_MAX = 12, 14
KEPT_BYTES_FREE = 16 << 10
"""Less than this is no growth, whatever the ratio: arenas grow in steps."""
ANSWERED = 30
EVENTS_SAMPLED = 6

EACH = pytest.mark.parametrize("case", short(CASES, len(KNOWN) + 12), ids=str)


def grows(case: GrowthCase, small_n: int) -> bool:
    """Return whether ten times the records cost more than they may."""
    small, large = (measure(case.query, SHAPES[case.shape](n)) for n in (small_n, 10 * small_n))
    has_more_work = large.work > WORK_MAX * max(small.work, small_n)
    return has_more_work or large.kept_bytes > KEPT_MAX * max(small.kept_bytes, KEPT_BYTES_FREE)


@EACH
def test_work_and_memory_follow_the_input(case: GrowthCase) -> None:
    assert not grows(case, SMALL)


@EACH
def test_answers_are_those_of_lxml_and_of_the_reference(case: GrowthCase) -> None:
    document = b"".join(SHAPES[case.shape](ANSWERED))
    tree = parse(document)
    answer = without_document(evaluate(xpath(case.query), tree))
    assert same(answer, Libxml2(tree).ask(case.query, {}))
    assert ask_kernel(case.query, document, {}) == ask_reference(case.query, document, {})


def test_most_queries_have_an_answer() -> None:
    empty = [
        case
        for case in CASES
        if is_empty(ask_kernel(case.query, b"".join(SHAPES[case.shape](ANSWERED)), {}))
    ]
    assert len(empty) < len(CASES) / 5, list(map(str, empty))


def check_decisions(case: GrowthCase, n: int, seed: int) -> None:
    """Compare what is decided and held after some events with the oracle."""
    query, random = normalise(xpath(case.query)), Random(seed)
    tree = parse(b"".join(SHAPES[case.shape](n)))
    last = len(tree.events) - 1
    sampled = [*sorted(random.sample(range(last), EVENTS_SAMPLED)), last]
    is_late = orders_what_grows_backwards(query)
    trace = trace_of(query, tree, random.choice((1, 7, 64, 1 << 16)))
    decided: set[tuple[int, int]] = set()
    expected: set[tuple[int, int]] = set()
    begin = 0
    due = steps_at(query, tree, sampled, is_order_late=is_late)
    for event, step in zip(sampled, due, strict=True):
        decided.update(span for done in trace[begin : event + 1] for span in done.decided)
        expected.update((node.start, node.end) for node in step.decided)
        begin = event + 1
        assert decided >= expected, ("late", event, expected - decided)
        starts = {node.start for node in step.needed}
        early = {span for span in decided - expected if span[0] not in starts}
        assert not early, ("wrong", event, early)
    assert decided == expected


RECORDS = b"".join(
    b"<line k='k%d' n='%d'><a>%d</a><amt>%d</amt><note>words %d</note></line>"
    % (n, n, n, 7 * n % 100, n)
    for n in range(45)
)
LOOKED_UP = (
    "//line[@k = 'c{0}']",
    "//line[note = 'c{0}']",
    "//line[@k = 'c{0}']/note",
    "//line[@k = 'c{0}'][@n = '7']",
    "//line[@k = 'c{0}' or note = 'd{0}']",
    "/r[@k = 'c{0}']//line[@k = 'c{0}']",
    "//line[amt > 10{0}]",
    "//line[@n < -1{0}]",
    "//line[amt = {0}.5]",
    "//line/amt[. >= 10{0}]",
    "//note[ancestor::line/@k = 'c{0}']",
)
ONE_BY_ONE = (
    "//line[{0}00]",
    "//line[count(x{0}) > 3]",
    "/r[count(line) > 10{0}]",
    "/r[sum(line/amt) > 1000{0}]",
    "//line[x{0} = a]",
    "//line[@k = 'c{0}'][2]",
    "//line[following-sibling::line[1]/@k = 'c{0}']",
    "//line[preceding-sibling::line/@k = 'c{0}']",
    "//line[contains(note, 'c{0}')]",
)


def work_of(query: str, count: int) -> int:
    """Return what so many queries that differ in a constant, and never match, cost together."""
    cost = measure([query.format(n + 1) for n in range(count)], [b"<r>", RECORDS, b"</r>"])
    assert cost.rows == 0
    return cost.work


@pytest.mark.parametrize("query", LOOKED_UP)
def test_conditions_that_are_looked_up_cost_the_same_however_many_they_are(query: str) -> None:
    assert work_of(query, 2_000) <= 2 * work_of(query, 20)


@pytest.mark.parametrize("query", ONE_BY_ONE)
def test_other_conditions_cost_what_their_number_says(query: str) -> None:
    assert work_of(query, 300) <= WORK_MAX * work_of(query, 30)


NODES = tuple(case for case in CASES if not case.query.startswith("count("))


@pytest.mark.parametrize("case", NODES, ids=str)
def test_decisions_fall_when_they_are_due(case: GrowthCase) -> None:
    check_decisions(case, ANSWERED, 0)


@pytest.mark.slow
@pytest.mark.parametrize("case", NODES, ids=str)
def test_decisions_in_groups_of_200_fall_when_they_are_due(case: GrowthCase) -> None:
    check_decisions(case, GROUP_RECORDS, 1)


def test_every_query_compiles_and_no_two_are_the_same() -> None:
    cases = growth_cases(SEED, 400)
    assert len(set(cases)) == 400
    assert growth_cases(SEED, 400) == cases
    for case in cases:
        compile_query(xpath(case.query))
