"""The strategies of MMQJP give what the product gives, and what the oracle gives."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import penstock
from papers.mmqjp.joining import STRATEGIES, Strategy, StrategyOptions
from penstock.errors import QueryError, RegistryError
from penstock.joins import JoinOptions
from penstock_testing.generate import random_stream, random_subscriptions
from penstock_testing.tree import parse
from tests.corpus import test_streams as streams
from tests.corpus.test_joins import CASES, documents_of, queries_of
from tests.join_engines import ask_engine
from tests.property.test_joins import expected, found
from tests.property.test_standing_joins import found_live, random_changes
from tests.shared.test_shared_joins import arrivals_of, doubtful, expected_pairs

WAYS: dict[str, JoinOptions] = {
    **{name: StrategyOptions(strategy=name) for name in STRATEGIES},
    "views that hardly fit": StrategyOptions(strategy="views", views_max=1),
    "mmqjp, spilled at once": StrategyOptions(strategy="mmqjp", state_bytes_max=1),
    "views, spilled now and then": StrategyOptions(strategy="views", state_bytes_max=2_000),
    "sequential, one at a time": StrategyOptions(strategy="sequential", batch_rows_max=1),
}
every_way = pytest.mark.parametrize("way", WAYS)


@every_way
@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_cases_of_joins_have_the_results_of_the_product(way: str, case: dict[str, Any]) -> None:
    queries, documents = queries_of(case), documents_of(case)
    product = ask_engine(JoinOptions())(queries, documents)
    assert sorted(ask_engine(WAYS[way])(queries, documents)) == sorted(product)
    assert len(product) == len(case["results"])


@every_way
@pytest.mark.parametrize("case", streams.CASES, ids=lambda case: case["name"])
def test_cases_of_streams(way: str, case: dict[str, Any], tmp_path: Path) -> None:
    results, errors = streams.told(case, streams.run_engine(WAYS[way])(case, tmp_path))
    assert results == sorted(case["results"])
    assert errors == sorted(case["errors"])


def check(way: str, random: Random) -> int:
    texts = random_subscriptions(random, random.randint(1, 4))
    documents = random_stream(random)
    want = sorted(
        (one.subscription, one.documents, one.time, one.value) for one in expected(texts, documents)
    )
    random.shuffle(documents)
    rows = found(texts, documents, WAYS[way])
    assert rows == found(texts, documents, JoinOptions()) == want
    return len(rows)


@every_way
@given(st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_random_joins_equal_the_product_and_the_oracle(way: str, random: Random) -> None:
    check(way, random)


@pytest.mark.slow
@every_way
@given(st.randoms(use_true_random=False))
def test_many_random_joins_equal_the_product_and_the_oracle(way: str, random: Random) -> None:
    check(way, random)


@every_way
@given(st.randoms(use_true_random=False))
@settings(max_examples=10)
def test_subscriptions_that_come_and_go_see_what_they_see_in_the_product(
    way: str, random: Random
) -> None:
    documents = random_stream(random)
    steps = random_changes(random, len(documents))
    try:
        want = found_live(steps, documents, JoinOptions())
    except (QueryError, RegistryError):
        assume(False)
        raise
    assert found_live(steps, documents, WAYS[way]) == want


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_cases_beside_the_checkout_have_the_expected_pairs(
    shared: Path, strategy: Strategy
) -> None:
    for line in (shared / "cases" / "xscl.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        stream = parse((shared / "cases" / "docs" / case["xscl"]["stream"]).read_bytes())
        arrivals = arrivals_of(stream)
        documents = [
            penstock.Document(one.tree.text(one.tree.root), one.id, "S", one.time)
            for one in arrivals
        ]
        registry = penstock.Registry()
        registry.add("case", penstock.xscl(case["xscl"]["query"]))
        engine = penstock.Engine(registry, joins=StrategyOptions(strategy=strategy))
        pairs = {row.documents for row in engine.run(documents)}
        assert pairs - doubtful(arrivals) == expected_pairs(case) - doubtful(arrivals), case["id"]
