"""Joins give what the oracle gives, however rows are found, stored and fed."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import penstock
from penstock.errors import QueryError, RegistryError
from penstock.joins import JoinOptions
from penstock.results import Document, Result
from penstock_testing.colliding import CollidingOptions
from penstock_testing.generate import random_stream, random_subscriptions
from penstock_testing.reference import Arrival
from penstock_testing.reference.streams import Outcome, run
from penstock_testing.tree import parse

WAYS = {
    "shared": JoinOptions(),
    "spilled at once": JoinOptions(state_bytes_max=1),
    "spilled now and then": JoinOptions(state_bytes_max=2_000),
    "hashes that collide": CollidingOptions(),
    "one result at a time": JoinOptions(batch_rows_max=1),
}

Found = tuple[str, tuple[str, ...], float, str]


def expected(texts: dict[str, str], documents: list[Document]) -> list[Outcome]:
    """Return the oracle's outcomes; skips what is no set of subscriptions."""
    arrivals = [
        Arrival(str(one.id), parse(one.data), float(str(one.time)), one.stream)  # type: ignore[arg-type]
        for one in documents
    ]
    try:
        return run({name: penstock.xscl(text) for name, text in texts.items()}, arrivals)
    except (QueryError, ValueError):
        assume(False)
        raise


def found(texts: dict[str, str], documents: list[Document], options: JoinOptions) -> list[Found]:
    """Return what the engine reports."""
    registry = penstock.Registry()
    for name, text in texts.items():
        registry.add(name, penstock.xscl(text))
    rows = list(penstock.Engine(registry, joins=options).run(documents))
    assert not any(row.is_error for row in rows)
    assert len({row.id for row in rows}) == len(rows), "ids tell results apart"
    return sorted(
        (
            str(row.subscription),
            row.documents or (row.document,),
            row.event_time.timestamp() if row.event_time else 0.0,
            str(row.value),
        )
        for row in rows
    )


@pytest.mark.parametrize("way", WAYS)
@given(st.randoms(use_true_random=False))
def test_joins_equal_the_oracle_in_any_order_of_arrival(way: str, random: Random) -> None:
    texts = random_subscriptions(random, random.randint(1, 4))
    documents = random_stream(random)
    want = sorted(
        (o.subscription, o.documents, o.time, o.value) for o in expected(texts, documents)
    )
    random.shuffle(documents)
    assert found(texts, documents, WAYS[way]) == want


@given(st.randoms(use_true_random=False))
def test_a_bound_on_lateness_changes_nothing_for_documents_in_time(random: Random) -> None:
    texts = random_subscriptions(random, random.randint(1, 4))
    documents = random_stream(random)
    want = sorted(
        (o.subscription, o.documents, o.time, o.value) for o in expected(texts, documents)
    )
    # Everybody comes at most a second after somebody younger.
    documents.sort(key=lambda one: float(str(one.time)) + random.choice((0.0, 0.5, 1.0)))
    registry = penstock.Registry()
    for name, text in texts.items():
        registry.add(name, penstock.xscl(text))
    rows = list(penstock.Engine(registry, lateness=1.0).run(documents))
    got = sorted(
        (str(r.subscription), r.documents, r.event_time.timestamp(), str(r.value))
        for r in rows
        if r.event_time
    )
    assert got == want


@given(st.randoms(use_true_random=False))
def test_batches_of_any_size_give_the_same_rows_in_the_same_order(random: Random) -> None:
    texts = random_subscriptions(random, random.randint(1, 4))
    documents = random_stream(random)
    # Event time goes on, so that absences are reported on the way.
    lateness = random.choice((None, 0.0, 1.0))
    registry = penstock.Registry()
    try:
        for name, text in texts.items():
            registry.add(name, penstock.xscl(text))
    except (QueryError, RegistryError):
        assume(False)
        raise

    def rows(batch_rows_max: int, state_bytes_max: int) -> list[Result]:
        options = JoinOptions(batch_rows_max=batch_rows_max, state_bytes_max=state_bytes_max)
        return list(penstock.Engine(registry, lateness=lateness, joins=options).run(documents))

    want = rows(10_000, 1 << 30)
    for batch_rows_max in (1, 2, 5):
        assert rows(batch_rows_max, random.choice((1, 2_000, 1 << 30))) == want


def test_what_would_come_back_to_its_publisher_is_refused() -> None:
    registry = penstock.Registry()
    registry.add("one", penstock.xscl("SELECT x FROM A//a->x PUBLISH B"))
    with pytest.raises(RegistryError) as caught:
        registry.add("two", penstock.xscl("SELECT x FROM B//a->x PUBLISH A"))
    assert caught.value.code == "PR0010"
