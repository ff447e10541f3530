"""Joins of a batch: the rows of Spark are those of the engine in this process, with their ids."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import QueryError, SettingError
from penstock.results import Document
from penstock.spark import join, quarantine
from penstock_testing.generate import random_stream, random_subscriptions
from penstock_testing.reference.streams import run
from penstock_testing.tree import parse
from tests.corpus import test_streams as streams
from tests.corpus.test_joins import CASES, documents_of, queries_of
from tests.join_engines import arrivals_of as arrivals_of_documents
from tests.shared.test_shared_joins import arrivals_of, doubtful, expected_pairs
from tests.spark.joins.helpers.together import SCHEMA, Together, collected, row_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

WAYS: dict[str, dict[str, Any]] = {
    "one task": {},
    "buckets": {"buckets": 3},
}
every_way = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)


@every_way
def test_corpus_gives_the_rows_of_the_engine(plain: SparkSession, way: dict[str, Any]) -> None:
    together = Together()
    for case in CASES:
        together.add(case["name"], queries_of(case), documents_of(case))
    rows = join(together.table(plain), together.registry, time="ts", stream="stream", **way)
    found = collected(rows)
    assert found == together.in_process()
    assert len(found) == sum(len(case["results"]) for case in CASES)


@pytest.mark.parametrize(
    "case",
    [case for case in streams.CASES if "queries" in case],
    ids=lambda case: case["name"],
)
@every_way
def test_what_one_subscription_cannot_do_is_its_own_error(
    plain: SparkSession, case: dict[str, Any], way: dict[str, Any]
) -> None:
    documents = [one for _, one in streams.arrivals_of(case) if isinstance(one, Document)]
    table = plain.createDataFrame([row_of(one) for one in documents], SCHEMA)
    limits = penstock.Limits(depth_max=case.get("depth_max", 100))
    registry = streams.registry_of(case)
    made = join(table, registry, time="ts", stream="stream", limits=limits, **way)
    rows = [row.asDict(recursive=True) for row in made.collect()]
    results, errors = streams.told(case, (("batch", row) for row in rows))
    assert results == sorted(f"batch:{one.partition(':')[2]}" for one in case["results"])
    assert errors == sorted(case["errors"])
    assert quarantine(made).count() == 0


def test_a_time_that_is_no_event_time_is_an_error_of_its_document(plain: SparkSession) -> None:
    table = plain.sql(
        "SELECT 'd1' AS id, '<a/>' AS xml, timestamp_seconds(1000000000000) AS ts, 'S' AS stream"
        " UNION ALL SELECT 'd2', '<a/>', timestamp_seconds(1), 'S'"
    )
    registry = penstock.Registry()
    registry.add("all", penstock.xscl("S//a"))
    rows = join(table, registry, time="ts", stream="stream").collect()
    found = {row["document"]: row["error"] and row["error"]["code"] for row in rows}
    assert found == {"d1": "PS0010", "d2": None}


def test_shared_cases_give_the_expected_pairs(plain: SparkSession, shared: Path) -> None:
    lines = (shared / "cases" / "xscl.jsonl").read_text("utf-8").splitlines()
    cases = {case["id"]: case for case in map(json.loads, lines)}
    together, arrivals = Together(), {}
    for name, case in cases.items():
        stream = (shared / "cases" / "docs" / case["xscl"]["stream"]).read_bytes()
        arrivals[name] = arrivals_of(parse(stream))
        documents = [
            Document(one.tree.text(one.tree.root).encode(), one.id, "S", one.time)
            for one in arrivals[name]
        ]
        together.add(name, {"": case["xscl"]["query"]}, documents)
    found = collected(join(together.table(plain), together.registry, time="ts", stream="stream"))
    assert found == together.in_process()
    for name, case in cases.items():
        pairs = {
            tuple(document.removeprefix(f"{name}: ") for document in row["documents"])
            for row in found
            if row["subscription"] == f"{name}: "
        }
        unclear = doubtful(arrivals[name])
        assert pairs - unclear == expected_pairs(case) - unclear, name


def random_cases(seed: int, count: int) -> tuple[Together, list[tuple[str, ...]]]:
    """Return random cases, and what the oracle finds in them."""
    random, together, expected = Random(seed), Together(), []
    added = 0
    while added < count:
        queries, documents = random_subscriptions(random, 3), random_stream(random)
        case = f"{seed}.{added}"
        try:
            outcomes = run(
                {name: penstock.xscl(text) for name, text in queries.items()},
                arrivals_of_documents(documents),
            )
        except QueryError:
            continue
        random.shuffle(documents)
        together.add(case, queries, documents)
        expected += [(f"{case}: {one.subscription}", one.value) for one in outcomes]
        added += 1
    return together, sorted(expected)


def check_random(spark: SparkSession, seed: int, count: int, ways: Iterable[str]) -> int:
    together, expected = random_cases(seed, count)
    in_process = together.in_process()
    assert sorted((row["subscription"], row["value"]) for row in in_process) == expected
    table = together.table(spark)
    for way in ways:
        rows = join(table, together.registry, time="ts", stream="stream", **WAYS[way])
        assert collected(rows) == in_process, way
    return len(expected)


def test_random_queries_give_the_rows_of_the_engine_and_the_oracle(plain: SparkSession) -> None:
    found = check_random(plain, 2, 30, WAYS)
    assert found > 50, "a comparison says little where nothing is found"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_queries_give_the_rows_of_the_engine_and_the_oracle(
    plain: SparkSession, seed: int
) -> None:
    check_random(plain, seed, 12, WAYS)


@every_way
def test_documents_that_fail_or_come_twice_are_as_in_the_engine(
    spark: SparkSession, way: dict[str, Any]
) -> None:
    """With Spark's own settings."""
    together = Together()
    same = Document(b"<a><k>1</k><k>2</k></a>", "same", "S", 1.0)
    documents = [
        same,
        same,
        Document(b"<a><k>2</k><k>1</k></a>", "same", "S", 1.0),
        Document(b"<a><k>1</k>", "broken", "S", 2.0),
        Document(b"<a><b><k>1</k></b></a>", "deep", "S", 3.0),
    ]
    queries = {
        "two": "S//a->x[k->k] JOIN{k = m, INF} S//a->y[k->m]",
        "both": "S//a->x[k->k][k->l] JOIN{k = m AND l = n, 0} S//a->y[k->m][k->n]",
    }
    together.add("case", queries, documents)
    rows = join(together.table(spark), together.registry, time="ts", stream="stream", **way)
    found = collected(rows)
    assert found == together.in_process()
    assert [row["error"]["code"] for row in found if row["kind"] == "error"] == ["PD0026"]
    limited = join(
        together.table(spark),
        together.registry,
        time="ts",
        stream="stream",
        limits=penstock.Limits(depth_max=2),
        **way,
    )
    failed = [row["document"] for row in collected(limited) if row["kind"] == "error"]
    assert failed == ["case: broken", "case: deep"]


def test_what_a_source_could_not_read_and_what_is_null_give_error_rows(
    spark: SparkSession,
) -> None:
    fault = ("PS0001", "the file is gone", 0, 0, "")
    rows = [("gone", None, fault), ("null", None, None), ("there", "<a>1</a>", None)]
    error = "fault struct<code: string, reason: string, byte: bigint, line: bigint, path: string>"
    table = spark.createDataFrame(rows, f"id string, xml string, {error}")
    registry = penstock.Registry()
    registry.add("q", penstock.xscl("default//a->x"))
    found = collected(join(table, registry))
    assert [(row["document"], row["error"] and row["error"]["reason"]) for row in found] == [
        ("gone", "the file is gone"),
        ("null", "the document is null"),
        ("there", None),
    ]


def test_registry_without_joins_gives_error_rows_alone(spark: SparkSession) -> None:
    registry = penstock.Registry()
    registry.add("path", "//a")
    rows = [row_of(Document(text, text.decode(), "S", 0.0)) for text in (b"<a/>", b"<a>")]
    (found,) = collected(join(spark.createDataFrame(rows, SCHEMA), registry, time="ts"))
    assert (found["kind"], found["document"]) == ("error", "<a>")


def test_a_hot_value_and_rare_ones_beside_it_are_found_in_buckets(
    spark: SparkSession,
) -> None:
    together = Together()
    documents = [
        Document(f"<a><h>hot</h><k>{one % 40}</k></a>".encode(), f"a{one}", "S", float(one))
        for one in range(300)
    ]
    documents.append(Document(b"<b><h>hot</h><k>7</k></b>", "b", "S", 1000.0))
    queries = {
        "hot": "S//a->x[h->h] FOLLOWED BY{h = i, INF} S//b->y[h->i]",
        "rare": "S//a->x[k->k][h->h] JOIN{k = l AND h = i, INF} S//a->y[k->l][h->i]",
        "none": "S//b->x[h->h] NOT FOLLOWED BY{h = i, INF} S//a->y[h->i]",
    }
    together.add("case", queries, documents)
    table = together.table(spark).repartition(3)
    rows = join(table, together.registry, time="ts", stream="stream", buckets=5)
    found = collected(rows)
    assert found == together.in_process()
    assert len(found) == 300 + sum(n * (n - 1) for n in [8] * 20 + [7] * 20) + 1
    assert collected(rows) == found, "rows are there to be read again"


def test_settings_that_do_not_exist_are_refused(spark: SparkSession) -> None:
    registry, table = penstock.Registry(), spark.createDataFrame([], SCHEMA)
    with pytest.raises(SettingError, match=r"strategy is no longer a setting: .*papers/mmqjp"):
        join(table, registry, strategy="sql")
    with pytest.raises(TypeError, match="join has no setting 'bucket'"):
        join(table, registry, bucket=2)
    with pytest.raises(ValueError, match="`buckets` is at least 1"):
        join(table, registry, buckets=0)


def test_streams_and_missing_columns_are_refused(spark: SparkSession) -> None:
    registry = penstock.Registry()
    with pytest.raises(ValueError, match=r"`penstock\.spark\.join_stream` joins streams"):
        join(spark.readStream.format("rate").load(), registry)
    with pytest.raises(ValueError, match="there is no column `xml`; the documents have `id`"):
        join(spark.range(1), registry)
