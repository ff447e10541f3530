"""A query that suits endless streams costs the same for every record, however many came before.

Work and kept bytes are counted by the kernel; no second is measured.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.planning.explain import verdict
from penstock.planning.verdicts import Cost
from penstock_testing.generate import WholeKnobs, random_xpath
from penstock_testing.generate.growth import KNOWN, growth_cases
from penstock_testing.generate.growth_documents import SHAPES, records
from penstock_testing.growth import measure, windows
from tests.property.runs import PAIRS

RECORDS = 400
"""Of one window."""
WINDOWS = 6
WORK_FREE, KEPT_BYTES_FREE = 1.0, 32 << 10
"""Less is no growth; one word for each record would be more."""
FLAT_MAX = 1.1
SMALL, LARGE = 60, 600
WORK_MAX = 16
"""What n log n grows by between the two sizes; the square grows by 100."""


def is_flat(query: str) -> bool:
    """Return whether the last records cost what those of the second window did."""
    _, early, *_, late = islice(windows(query, records(0), RECORDS), WINDOWS)
    has_same_work = late.work <= FLAT_MAX * early.work + WORK_FREE
    return has_same_work and late.kept_bytes <= FLAT_MAX * early.kept_bytes + KEPT_BYTES_FREE


def asked(queries: Iterable[str]) -> Iterator[tuple[str, Cost, bool]]:
    """Yield queries with their cost and whether an endless stream suits them."""
    for query in queries:
        try:
            said = verdict(xpath(query))
        except QueryError:
            continue  # too large, or with a prefix
        yield query, said.cost, said.suits_endless


def random_queries(first: int, count: int) -> Iterator[str]:
    knobs = WholeKnobs(values=0, predicate=0.5, namespaces=0)
    return (random_xpath(Random(seed), knobs) for seed in range(first, first + count))


def check_endless(queries: Iterable[str]) -> int:
    """Return how many of the queries suit an endless stream, and check that they do."""
    suited = [query for query, _, suits in asked(queries) if suits]
    bent = [query for query in suited if not is_flat(query)]
    assert not bent, bent
    return len(suited)


def test_generated_queries_that_suit_endless_streams_are_flat() -> None:
    cases = (*KNOWN, *growth_cases(3, PAIRS // 2))
    assert check_endless(case.query for case in cases) > PAIRS / 20


def test_random_queries_that_suit_endless_streams_are_flat() -> None:
    assert check_endless(random_queries(0, PAIRS)) > PAIRS / 5


@pytest.mark.slow
def test_many_queries_that_suit_endless_streams_are_flat() -> None:
    check_endless(random_queries(1_000_000, 20_000))
    check_endless(case.query for case in growth_cases(4, 2_000))


@pytest.mark.parametrize("shape", ["repeating", "mixed", "keys_last"])
def test_work_follows_the_input_unless_the_verdict_names_pairs(shape: str) -> None:
    grown = []
    for query, cost, _ in asked(random_queries(0, PAIRS)):
        if cost is not Cost.PAIRS:
            small, large = (measure(query, SHAPES[shape](n)).work for n in (SMALL, LARGE))
            if large > WORK_MAX * max(small, SMALL):
                grown.append((query, small, large))
    assert not grown, grown
