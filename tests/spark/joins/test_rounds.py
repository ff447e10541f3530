"""Whatever the batches, buckets and hashes, the joins of a stream are those of one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import penstock
from penstock.results import Document
from penstock.spark.joins import segments
from tests.spark.joins.helpers.cases import (
    LATENESS,
    Case,
    corpus_cases,
    expected,
    identities,
    outcomes,
    projected,
    random_case,
    registry_of,
    split_at_random,
    the_end,
)
from tests.spark.joins.helpers.local import LocalJoins


def found(case: Case, random: Random, folder: Path, **options: float) -> list[tuple[object, ...]]:
    """Return what a stream of the case's documents gives, cut into batches at random."""
    batches = [*split_at_random(random, case.documents), [the_end()]]
    rows = []
    for number, documents in enumerate(batches):
        # Whoever goes on begins anew, with nothing but the folder.
        joins = LocalJoins(folder, registry_of(case.queries), **{"lateness": LATENESS} | options)
        rows += joins.batch(number, documents)
    return identities(rows)


@given(st.randoms(use_true_random=False))
def test_random_streams_equal_the_oracle_and_have_the_ids_of_the_engine(random: Random) -> None:
    case = random_case(random)
    assume(case is not None)
    assert case is not None
    options = {"buckets": random.choice((1, 2, 5)), "hash_bits": random.choice((1, 2, 64, 64))}
    with TemporaryDirectory() as folder:
        rows = found(case, random, Path(folder), **options)
    assert projected(rows) == outcomes(case)
    assert rows == expected(case)


@given(st.randoms(use_true_random=False))
def test_a_bound_on_lateness_changes_nothing_for_documents_in_time(random: Random) -> None:
    case = random_case(random)
    assume(case is not None)
    assert case is not None
    # Everybody comes at most a second after somebody younger, and segments are merged at once.
    in_time = sorted(
        case.documents, key=lambda one: float(str(one.time)) + random.choice((0.0, 0.5, 1.0))
    )
    case = Case(case.queries, in_time)
    with TemporaryDirectory() as folder, patch.object(segments, "FAN", 2):
        assert found(case, random, Path(folder), lateness=1.0) == expected(case)


@given(st.randoms(use_true_random=False))
def test_subscriptions_that_come_and_go_see_what_they_see_in_one_process(random: Random) -> None:
    case = random_case(random)
    assume(case is not None)
    assert case is not None
    batches = [*split_at_random(random, case.documents), [the_end()]]
    lives = {}
    for name in case.queries:
        begin = random.randrange(len(batches))
        lives[name] = (begin, random.choice((begin + 1, begin + 2, len(batches))))
    registry = penstock.Registry()

    def change(number: int) -> None:
        for name, (begin, end) in lives.items():
            if number == end:
                registry.remove(name)
            if number == begin:
                registry.add(name, penstock.xscl(case.queries[name]))

    def arrivals() -> Iterator[Document]:
        for number, documents in enumerate(batches):
            change(number)
            yield from documents

    wanted = identities(penstock.Engine(registry).run(arrivals()))
    registry = penstock.Registry()
    rows = []
    with TemporaryDirectory() as folder:
        for number, documents in enumerate(batches):
            change(number)
            joins = LocalJoins(Path(folder), registry, lateness=LATENESS, buckets=3)
            rows += joins.batch(number, documents)
    assert identities(rows) == wanted


@pytest.mark.parametrize("seed", range(3))
def test_all_cases_of_the_corpus_in_one_stream_equal_the_engine(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    cases = [case.apart(number) for number, case in enumerate(corpus_cases())]
    queries = {name: text for case in cases for name, text in case.queries.items()}
    documents = [document for case in cases for document in case.documents]
    random.shuffle(documents)
    rows = found(Case(queries, documents), random, tmp_path, buckets=3)
    assert rows == sorted((row for case in cases for row in expected(case)), key=repr)
