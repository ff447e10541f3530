"""XQuery over several streams on Spark: the rows of the engine in this process, with their ids."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.results import COLUMNS, Document
from penstock.spark import join
from tests.spark.joins.helpers.cases import split_at_random
from tests.spark.joins.helpers.local import LocalJoins
from tests.spark.joins.helpers.over_streams import random_cases
from tests.spark.joins.helpers.streams import start, write_batch
from tests.spark.joins.helpers.together import SCHEMA, collected, comparable, row_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAIRS = (
    "for $a in stream('news')//item, $b in stream('blogs')//post where $a/k = $b/k "
    "return <m>{string($a/@id)}-{string($b/@id)}</m>"
)
WAYS: dict[str, dict[str, Any]] = {"one task": {}, "buckets": {"buckets": 3}}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


def registry_of(*texts: str, **options: Any) -> penstock.Registry:
    registry = penstock.Registry()
    for number, text in enumerate(texts):
        registry.add(f"q{number}", penstock.xquery(text, **options))
    return registry


def item(number: int, *keys: object, time: float = 0.0, name: str = "item") -> Document:
    inner = "".join(f"<k>{key}</k>" for key in keys)
    stream = "news" if name == "item" else "blogs"
    data = f"<r><{name} id='{number}'>{inner}</{name}></r>".encode()
    return Document(data, f"{stream[0]}{number}", stream, time)


def post(number: int, *keys: object, time: float = 0.0) -> Document:
    return item(number, *keys, time=time, name="post")


def in_process(registry: penstock.Registry, documents: list[Document]) -> list[Any]:
    rows = penstock.Engine(registry).run(documents)
    return comparable([{name: getattr(row, name) for name in COLUMNS} for row in rows])


def in_batch(
    spark: SparkSession, registry: penstock.Registry, documents: list[Document], **options: Any
) -> list[Any]:
    table = spark.createDataFrame([row_of(one) for one in documents], SCHEMA)
    return collected(join(table, registry, time="ts", stream="stream", **options))


def values(rows: list[Any]) -> list[str]:
    return sorted(re.sub("</?m>", "", row["value"]) for row in rows if row["value"])


@pytest.mark.spark
@every_way
def test_random_queries_give_the_rows_of_the_engine(
    spark: SparkSession, way: dict[str, Any]
) -> None:
    for seed, within in ((0, None), (1000, "5 s")):
        registry, documents = random_cases(seed, 40, within)
        expected = in_process(registry, documents)
        Random(seed).shuffle(documents)
        assert in_batch(spark, registry, documents, **way) == expected
        assert len({row["subscription"] for row in expected}) > 15, "most find something"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("within", [None, "5 s"])
def test_a_stream_in_random_batches_gives_the_rows_of_the_engine(
    seed: int, within: str | None
) -> None:
    registry, documents = random_cases(2000 + 100 * seed, 12, within)
    expected = in_process(registry, documents)
    random = Random(seed)
    random.shuffle(documents)
    rows: list[Any] = []
    with TemporaryDirectory() as folder:
        for number, batch in enumerate(split_at_random(random, documents)):
            # Whoever goes on begins anew, with nothing but the folder.
            joins = LocalJoins(Path(folder), registry, buckets=1 + 2 * (seed % 2))
            rows += joins.batch(number, batch)
    assert [_said(row) for row in comparable(rows)] == [_said(row) for row in expected]
    assert len(expected) > 20


def _said(row: Any) -> tuple[Any, ...]:
    return tuple(
        tuple(row[name]) if name == "documents" else row[name]
        for name in ("subscription", "stream", "document", "documents", "ordinal", "kind", "value")
    )


@pytest.mark.spark
@every_way
def test_bindings_of_one_document_and_many_equal_values_join_once(
    spark: SparkSession, way: dict[str, Any]
) -> None:
    """The pair of a node with itself is one; ids of documents may be the same."""
    text = (
        "for $a in stream('news')//item, $b in stream('news')//item, $c in stream('blogs')//post "
        "where $a/k = $b/k and $b/k = $c/k and $a/k = $c/k and $a/@id <= $b/@id "
        "return <m>{string($a/@id)}-{string($b/@id)}-{string($c/@id)}</m>"
    )
    documents = [
        Document(
            b"<r><item id='1'><k>x</k><k>y</k></item><item id='2'><k>y</k><k>x</k></item></r>",
            "same",
            "news",
            1.0,
        ),
        Document(b"<r><item id='3'><k>x</k></item></r>", "same", "news", 1.0),
        post(7, "y", "x", "z"),
        post(8, "q"),
    ]
    registry = registry_of(text, within="INF")
    found = in_batch(spark, registry, documents, **way)
    assert found == in_process(registry, documents)
    assert values(found) == [f"{a}-{b}-7" for a, b in ("11", "12", "13", "22", "23", "33")]
    registry = registry_of(text.replace("stream('news')", "doc('news')"))
    found = in_batch(spark, registry, documents, **way)
    assert found == in_process(registry, documents)
    assert values(found) == [f"{a}-{b}-7" for a, b in ("11", "12", "22", "33")]


@pytest.mark.spark
@every_way
def test_a_document_that_fails_gives_its_error_and_no_bindings(
    spark: SparkSession, way: dict[str, Any]
) -> None:
    broken = Document(b"<r><item id='2'><k>x</k></item><item>", "broken", "news", 0.0)
    documents = [item(1, "x"), broken, post(3, "x")]
    registry = registry_of(PAIRS)
    found = in_batch(spark, registry, documents, **way)
    assert values(found) == ["1-3"]
    (error,) = [row for row in found if row["kind"] == "error"]
    assert (error["document"], error["subscription"]) == ("broken", None)
    assert values(in_process(registry, documents)) == ["1-3", "2-3"], "the engine is ahead"


@pytest.mark.spark
@every_way
def test_what_fails_in_one_subscription_is_its_own_error(
    spark: SparkSession, way: dict[str, Any]
) -> None:
    side = (
        "for $a in stream('news')//item, $b in stream('blogs')//post "
        "where xs:integer($a/@id) > 0 and $a/k = $b/k return <m>{string($a/@id)}</m>"
    )
    message = (
        "for $a in stream('news')//item, $b in stream('blogs')//post "
        "where $a/k = $b/k return <m>{xs:integer($b/@id)}</m>"
    )
    documents = [item(1, "x"), post(3, "x"), post(4, "x", "y")]
    documents.append(Document(b"<r><item id='no'><k>x</k></item></r>", "no", "news", 0.0))
    documents.append(Document(b"<r><post id='no'><k>x</k></post></r>", "nob", "blogs", 0.0))
    registry = registry_of(PAIRS, side, message)
    found = in_batch(spark, registry, documents, **way)
    expected = in_process(registry, documents)
    assert [_told(row) for row in found] == [_told(row) for row in expected]
    failed = {row["subscription"] for row in found if row["kind"] == "error"}
    assert failed == {"q1", "q2"}


def _told(row: Any) -> tuple[Any, ...]:
    error = row["error"] and row["error"]["code"]
    return (
        row["subscription"],
        row["document"],
        row["documents"],
        row["kind"],
        row["value"],
        error,
    )


@pytest.mark.spark
def test_a_stream_joins_with_what_came_before_as_far_as_a_window_goes(
    spark: SparkSession, tmp_path: Path
) -> None:
    registry = penstock.Registry.open(tmp_path / "registry")
    registry.add("near", penstock.xquery(PAIRS, within="10 s"))
    write_batch(tmp_path / "in", 0, [item(1, "x", time=0), item(2, "x", time=100)])
    write_batch(tmp_path / "in", 1, [post(3, "x", time=105)])
    write_batch(tmp_path / "in", 2, [post(4, "x", time=1)])
    query = start(spark, tmp_path, registry, lateness=50, trigger={"availableNow": True})
    query.awaitTermination()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert values(rows) == ["2-3"]
    late = [(row["document"], row["error"]["code"]) for row in rows if row["kind"] == "error"]
    assert late == [("b4", "PJ0001")]


def test_subscriptions_come_and_go_while_a_stream_runs(tmp_path: Path) -> None:
    def joins(*names: str) -> LocalJoins:
        registry = penstock.Registry.open(tmp_path / "registry")
        for name in {one.name for one in registry} - {*names}:
            registry.remove(name)
        for name in names:
            if name not in registry:
                registry.add(name, penstock.xquery(PAIRS))
        return LocalJoins(tmp_path / "state", registry)

    def found(rows: list[Any]) -> list[tuple[str, str]]:
        return sorted((row["subscription"], re.sub("</?m>", "", row["value"])) for row in rows)

    assert joins("one").batch(0, [item(1, "x")]) == []
    assert found(joins("one", "two").batch(1, [item(2, "x"), post(1, "x")])) == [
        ("one", "1-1"),
        ("one", "2-1"),
        ("two", "2-1"),
    ]
    assert found(joins("two").batch(2, [post(2, "x")])) == [("two", "2-2")]
