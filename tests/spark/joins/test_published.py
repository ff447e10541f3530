"""What XSCL publishes is read by XQuery over several streams on Spark as in this process."""

from __future__ import annotations

from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.results import COLUMNS, Document
from penstock.spark import join
from tests.property.test_published import STREAMED, subscribe_joins, write_documents
from tests.spark.joins.helpers.cases import split_at_random
from tests.spark.joins.helpers.local import LocalJoins
from tests.spark.joins.helpers.together import SCHEMA, collected, comparable, row_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_COMPARED = ("subscription", "stream", "kind", "value")


def draw(seed: int) -> tuple[penstock.Registry, list[Document]]:
    """Return joins that publish, what reads their streams, and documents."""
    random = Random(seed)
    registry = penstock.Registry()
    subscribe_joins(random, registry)
    for number, text in enumerate(STREAMED):
        registry.add(f"streams{number}", penstock.xquery(text, within=random.choice([None, "12"])))
    documents = [
        Document(str(one.data).encode(), one.id, one.stream, float(str(one.time)))
        for one in write_documents(random)
    ]
    return registry, documents


def compared(rows: list[Any]) -> list[str]:
    return sorted(
        repr([row[name] for name in _COMPARED] + [*(row["documents"] or ())])
        for row in comparable(rows)
    )


def in_process(registry: penstock.Registry, documents: list[Document]) -> list[Any]:
    rows = penstock.Engine(registry).run(documents)
    return [{name: getattr(row, name) for name in COLUMNS} for row in rows]


def reading(rows: list[Any]) -> int:
    return sum(row["subscription"].startswith("streams") for row in rows)


@pytest.mark.parametrize("seed", range(40, 60))
def test_a_stream_in_random_batches_gives_the_rows_of_the_engine(seed: int) -> None:
    registry, documents = draw(seed)
    # What waits for the end of time would be reported by the engine alone.
    for name in ("alone", "again"):
        if name in registry:
            registry.remove(name)
    expected = in_process(registry, documents)
    random = Random(seed)
    random.shuffle(documents)
    rows: list[Any] = []
    with TemporaryDirectory() as folder:
        for number, batch in enumerate(split_at_random(random, documents)):
            joins = LocalJoins(Path(folder), registry, buckets=1 + 2 * (seed % 2))
            rows += joins.batch(number, batch)
    assert compared(rows) == compared(expected)


def test_half_of_the_draws_read_what_is_published() -> None:
    assert sum(reading(in_process(*draw(seed))) > 0 for seed in range(40, 60)) >= 10


@pytest.mark.spark
@pytest.mark.parametrize("way", [{}, {"buckets": 3}], ids=["one task", "buckets"])
def test_a_batch_gives_the_rows_of_the_engine(spark: SparkSession, way: dict[str, Any]) -> None:
    found = 0
    for seed in range(37, 45):
        registry, documents = draw(seed)
        expected = in_process(registry, documents)
        found += reading(expected)
        table = spark.createDataFrame([row_of(one) for one in documents], SCHEMA)
        rows = collected(join(table, registry, time="ts", stream="stream", **way))
        assert compared(rows) == compared(expected)
    assert found > 50
