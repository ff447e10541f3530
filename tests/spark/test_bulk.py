"""``match`` in bulk: what ``Engine.matches`` gives, one row for a document."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pytest

import penstock
from penstock.limits import Limits
from penstock.spark import match, quarantine, results, worker
from penstock.spark.plans import ship
from penstock.spark.worker import Job, evaluate
from penstock_testing.generate import random_document, random_xpath

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BATCH = cast("Any", SimpleNamespace(isStreaming=False))
GREEDY = "//a[preceding::a/following::a = .]"

Found = list[tuple[str, str, tuple[object, ...]]]


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a host and a process that have seen nothing yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(worker, "_idle", type(worker._idle)())


def batch_of(documents: list[bytes | None]) -> pa.RecordBatch:
    count = len(documents)
    arrays = [
        pa.array(documents, pa.binary()),
        pa.array([f"d{number}" for number in range(count)]),
        pa.nulls(count, pa.timestamp("us", tz="UTC")),
        pa.repeat("default", count),
        pa.array(range(count), pa.int32()),
    ]
    names = ["__document", "__id", "__time", "__stream", "number"]
    return pa.RecordBatch.from_arrays(arrays, names=names)


def evaluated(registry: penstock.Registry, *documents: bytes | None, **how: Any) -> list[Any]:
    """Return the rows of the worker, without Spark."""
    job = Job(ship(registry, BATCH), how.get("limits") or Limits(), False, is_bulk=True)
    return [row for one in evaluate(job, iter([batch_of(list(documents))])) for row in rows(one)]


def rows(batch: Any) -> Iterator[dict[str, Any]]:
    yield from batch.to_pylist()


def unfolded(rows: Iterable[Any]) -> Found:
    """Return who found what where; lists that are shared are there for each."""
    return sorted(
        (
            (
                row["document"],
                name,
                tuple(fragment_of(row["fragments"][n]) for n in one["fragments"]),
            )
            for row in rows
            if row["kind"] != "error"
            for one in row["entries"]
            for name in one["subscriptions"]
        ),
        key=repr,
    )


def fragment_of(fragment: Any) -> tuple[object, ...]:
    names = ("kind", "name", "value", "start", "end")
    beside = fragment["bindings"]
    return (*(fragment[name] for name in names), beside and sorted(dict(beside).items()))


def expected(registry: penstock.Registry, documents: Iterable[bytes | None]) -> Found:
    """Return the same of ``Engine.matches``."""
    source = [penstock.Document(one or b"", id=f"d{n}") for n, one in enumerate(documents)]
    found: Found = []
    for matches in penstock.Engine(registry).matches(source):
        names = matches.subscriptions().to_pylist()
        ids = matches.documents.column("document").to_pylist()
        fragments = matches.fragments.to_pylist()
        for name, entry in zip(names, matches.entries.to_pylist(), strict=True):
            listed = tuple(fragment_of(fragments[n]) for n in entry["fragments"] or ())
            found.append((ids[entry["document"]], name, listed))
    return sorted(found, key=repr)


def subscribed(random: Random, count: int) -> penstock.Registry:
    registry = penstock.Registry()
    while len(registry) < count:
        name = f"q{len(registry)}"
        mode = random.choice(("query", "query", "filter"))
        try:
            if random.random() < 0.2:
                with_values = penstock.xpath(random_xpath(random), select={"x": "@x", "up": ".."})
                registry.add(name, with_values, mode)
            else:
                registry.add(name, random_xpath(random), mode)  # type: ignore[arg-type]
        except penstock.QueryError:
            continue  # a prefix without a namespace, or values beside a value
    return registry


@pytest.mark.parametrize("count", [1, 20, 300])
def test_rows_in_bulk_are_the_matches_of_the_engine(count: int) -> None:
    found = 0
    for seed in range(2):
        random = Random(1000 * count + seed)
        registry = subscribed(random, count)
        documents = [random_document(random) for _ in range(60)]
        documents[11] = b"<a><b></a>"
        given = evaluated(registry, *documents)
        assert unfolded(given) == expected(registry, documents)
        assert [row["document"] for row in given if row["kind"] == "error"] == ["d11"]
        assert all(row["number"] == int(row["document"][1:]) for row in given)
        found += len(unfolded(given))
    assert found > 20 * min(count, 20)


def test_who_finds_the_same_stands_together() -> None:
    registry = penstock.Registry()
    for number in range(300):
        registry.add(f"q{number}", f"/a[b{number}]/c", "query" if number % 2 else "filter")
    children = b"".join(b"<b%d/>" % number for number in range(200))
    document = b"<a>" + children + b"<c>1</c><c>2</c></a>"
    (row,) = evaluated(registry, document)
    assert unfolded([row]) == expected(registry, [document])
    found = {tuple(one["fragments"]): len(one["subscriptions"]) for one in row["entries"]}
    assert found == {(): 100, (0, 1): 100}
    assert [fragment["value"] for fragment in row["fragments"]] == ["<c>1</c>", "<c>2</c>"]


def test_documents_without_a_match_have_no_row_and_odd_ones_stand_between_others() -> None:
    registry = penstock.Registry()
    registry.add("a", "//a")
    registry.add("f", "//f", "filter")
    given = evaluated(registry, b"<a/>", b"<x/>", None, b"<f/>", b"<a>", b"<r><f/><a/></r>")
    kinds = [(row["document"], row["kind"]) for row in given]
    assert sorted(kinds) == [
        ("d0", "matches"),
        ("d2", "error"),
        ("d3", "matches"),
        *([("d4", "error")]),
        *([("d4", "matches")] if ("d4", "matches") in kinds else []),
        ("d5", "matches"),
    ]
    failed = {row["document"]: row for row in given if row["kind"] == "error"}
    assert (failed["d4"]["source"], failed["d4"]["error"]["code"]) == (b"<a>", "PD0026")
    (filtered,) = [row for row in given if row["document"] == "d3"]
    assert filtered["entries"] == [{"subscriptions": ["f"], "fragments": []}]
    assert filtered["fragments"] == []


def test_a_subscription_that_fails_alone_is_named() -> None:
    registry = penstock.Registry()
    registry.add("greedy", GREEDY)
    registry.add("count", "count(//a)")
    document = b"<r>" + b"<a>x</a>" * 3_000 + b"</r>"
    given = evaluated(registry, document, limits=Limits(steps_max=10_000))
    (failed,) = [row for row in given if row["kind"] == "error"]
    assert (failed["subscription"], failed["source"]) == ("greedy", None)
    assert [name for _, name, _ in unfolded(given)] == ["count"]


def test_a_large_document_comes_in_several_rows() -> None:
    registry = penstock.Registry()
    registry.add("all", "//a")
    large = b"<r>" + b"<a>" * 100 + b"x" * 400_000 + b"</a>" * 100 + b"</r>"
    given = evaluated(registry, b"<a/>", large, b"<a/>")
    assert len(given) > 3
    starts = [one["start"] for row in given if row["document"] == "d1" for one in row["fragments"]]
    assert sorted(starts) == [3 + 3 * number for number in range(100)]


@pytest.mark.spark
def test_bulk_on_spark_is_that_of_the_engine(spark: SparkSession) -> None:
    random = Random(5)
    registry = subscribed(random, 100)
    documents = [random_document(random) for _ in range(60)]
    documents[7] = b"<a"
    frame = spark.createDataFrame(
        [(f"d{n}", one, n) for n, one in enumerate(documents)], "id string, xml binary, place int"
    )
    rows = match(frame, registry, rows="bulk")
    kept = [row.asDict(recursive=True) for row in rows.collect()]
    assert unfolded(kept) == expected(registry, documents)
    assert results(rows).count() == sum(row["kind"] == "matches" for row in kept) > 30
    (bad,) = quarantine(rows).collect()
    assert (bad["document"], bytes(bad["source"]), bad["place"]) == ("d7", b"<a", 7)
    exploded = results(rows).selectExpr("document", "inline(entries)")
    pairs = exploded.selectExpr("document", "explode(subscriptions)", "fragments").count()
    assert pairs == len(unfolded(kept))
    with pytest.raises(ValueError, match="bulk"):
        match(frame, registry, rows=cast("Any", "some"))
    clash = frame.withColumnRenamed("place", "entries")
    with pytest.raises(ValueError, match="entries"):
        match(clash, registry, rows="bulk")
