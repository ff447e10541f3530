"""Joins: rows of templates give what brute force gives, whatever arrives in whatever order."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock_testing.generate import random_stream, random_subscriptions
from tests.join_engines import JOIN_ENGINES

ENGINES = [name for name in JOIN_ENGINES if name != "oracle"]
RANDOMS = st.randoms(use_true_random=False)


@pytest.mark.parametrize("engine", ENGINES)
@given(RANDOMS)
def test_every_engine_agrees_with_the_oracle(engine: str, random: Random) -> None:
    documents = random_stream(random)
    queries = random_subscriptions(random, 3)
    expected = sorted(JOIN_ENGINES["oracle"](queries, documents))
    assert sorted(JOIN_ENGINES[engine](queries, documents)) == expected


@pytest.mark.parametrize("engine", list(JOIN_ENGINES))
@given(RANDOMS)
def test_the_order_of_arrival_does_not_matter(engine: str, random: Random) -> None:
    documents = random_stream(random)
    queries = random_subscriptions(random, 2)
    expected = sorted(JOIN_ENGINES[engine](queries, documents))
    random.shuffle(documents)
    assert sorted(JOIN_ENGINES[engine](queries, documents)) == expected


def test_random_queries_find_something() -> None:
    """A comparison of engines says little where all of them find nothing."""
    random = Random(1)
    with_results = 0
    for _ in range(200):
        documents, queries = random_stream(random), random_subscriptions(random, 3)
        with_results += bool(JOIN_ENGINES["oracle"](queries, documents))
    assert with_results > 80
