"""MMQJP as SQL on Spark gives the rows of the engine in this process, with their ids."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import pytest

import penstock
from papers.mmqjp.spark import join_sql, statements
from penstock.errors import QueryError, RegistryError
from penstock.results import Document
from penstock_testing.generate import random_stream, random_subscriptions
from penstock_testing.reference.streams import run
from tests.corpus import test_streams as streams
from tests.corpus.test_joins import CASES, documents_of, queries_of
from tests.join_engines import arrivals_of
from tests.spark.conftest import plain as plain
from tests.spark.conftest import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.spark.conftest import spark as spark
from tests.spark.joins.helpers.together import SCHEMA, Together, collected, row_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

needs_spark = pytest.mark.spark


@needs_spark
def test_corpus_gives_the_rows_of_the_engine(plain: SparkSession) -> None:
    together = Together()
    for case in CASES:
        together.add(case["name"], queries_of(case), documents_of(case))
    found = collected(
        join_sql(together.table(plain), together.registry, time="ts", stream="stream")
    )
    assert found == together.in_process()
    assert len(found) == sum(len(case["results"]) for case in CASES)


def check_random(spark: SparkSession, seed: int, count: int) -> int:
    random, together = Random(seed), Together()
    added = found = 0
    while added < count:
        queries, documents = random_subscriptions(random, 3), random_stream(random)
        try:
            compiled = {name: penstock.xscl(text) for name, text in queries.items()}
            found += len(run(compiled, arrivals_of(documents)))
        except QueryError:
            continue
        random.shuffle(documents)
        together.add(f"{seed}.{added}", queries, documents)
        added += 1
    rows = join_sql(together.table(spark), together.registry, time="ts", stream="stream")
    assert collected(rows) == together.in_process()
    return found


@needs_spark
def test_random_queries_give_the_rows_of_the_engine(plain: SparkSession) -> None:
    assert check_random(plain, 1, 8) > 10, "a comparison says little where nothing is found"


@needs_spark
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_queries_give_the_rows_of_the_engine(plain: SparkSession, seed: int) -> None:
    check_random(plain, seed, 12)


@needs_spark
@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [case for case in streams.CASES if "queries" in case],
    ids=lambda case: case["name"],
)
def test_errors_are_those_of_the_engine(plain: SparkSession, case: dict) -> None:  # type: ignore[type-arg]
    documents = [one for _, one in streams.arrivals_of(case) if isinstance(one, Document)]
    table = plain.createDataFrame([row_of(one) for one in documents], SCHEMA)
    limits = penstock.Limits(depth_max=case.get("depth_max", 100))
    registry = streams.registry_of(case)
    made = join_sql(table, registry, time="ts", stream="stream", limits=limits)
    rows = [row.asDict(recursive=True) for row in made.collect()]
    results, errors = streams.told(case, (("batch", row) for row in rows))
    assert results == sorted(f"batch:{one.partition(':')[2]}" for one in case["results"])
    assert errors == sorted(case["errors"])


def test_a_query_over_streams_is_refused_by_name() -> None:
    registry = penstock.Registry()
    text = """for $p in stream("a")//p, $r in stream("b")//r where $p/id = $r/@for return <m/>"""
    registry.add("q0", penstock.xquery(text))
    with pytest.raises(RegistryError, match="`q0` joins streams"):
        statements(registry)


def test_statements_are_one_for_each_template() -> None:
    registry = penstock.Registry()
    names = ["title", "author", "category"]
    for one in names:
        for other in names:
            text = f"S//a->x[{one}->k] FOLLOWED BY{{k = m, 5}} S//b->y[{other}->m]"
            registry.add(f"{one} {other}", penstock.xscl(text))
    pair = "S//a->x[k->k][l->l] JOIN{k = m AND l = n, 5} S//b[k->m]/l->n"
    registry.add("pair", penstock.xscl(pair))
    registry.add("alone", penstock.xscl("S//a->x[k->k][l->l]"))
    found = statements(registry)
    first = tuple(f"{one} {other}" for one in names for other in names)
    assert [one.subscriptions for one in found] == [first, ("pair",), ("alone",)]
    assert all(one.round == 0 for one in found)
    assert "FROM meetings AS met" in found[0].sql
