"""Streaming joins on Spark: the rows of the engine, whatever comes between."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.results import Document
from penstock.spark import join_progress, join_stream, quarantine
from penstock_testing.tree import parse
from tests.corpus import test_streams as streams
from tests.shared.test_shared_joins import arrivals_of, doubtful, expected_pairs
from tests.spark.joins.helpers.cases import (
    LATENESS,
    corpus_cases,
    expected,
    identities,
    random_case,
    registry_of,
    the_end,
)
from tests.spark.joins.helpers.streams import SCHEMA, read_batches, run, start, write_batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

SAME = "S//a->x[k->y] FOLLOWED BY{y = z, 10} S//b->w[k->z]"


def document(name: str, time: float, key: object = "1") -> Document:
    return Document(f"<{name}><k>{key}</k></{name}>".encode(), f"{name}{time:g}", "S", time)


def pairs(rows: list[Any]) -> list[tuple[str, ...]]:
    return sorted(tuple(row["documents"]) for row in rows if row["kind"] != "error")


def test_corpus_and_random_cases_in_one_stream_equal_the_engine(
    spark: SparkSession, tmp_path: Path
) -> None:
    random = Random(5)
    made = [random_case(random) for _ in range(60)]
    cases = [*corpus_cases(), *(case for case in made if case is not None)]
    cases = [case.apart(number) for number, case in enumerate(cases)]
    documents = [one for case in cases for one in case.documents]
    random.shuffle(documents)
    for number in range(4):
        write_batch(tmp_path / "in", number, documents[number::4])
    write_batch(tmp_path / "in", 4, [the_end()])
    registry = registry_of({name: text for case in cases for name, text in case.queries.items()})
    rows = run(spark, tmp_path, registry, lateness=LATENESS)
    wanted = sorted((row for case in cases for row in expected(case)), key=repr)
    assert len(wanted) > 150
    assert identities(rows) == wanted


def test_what_one_subscription_cannot_do_is_its_own_error(
    spark: SparkSession, tmp_path: Path
) -> None:
    cases = [case for case in streams.CASES if case.get("depth_max") in (None, 3)]
    cases = [case for case in cases if "queries" in case]
    registry, documents = penstock.Registry(), []
    for number, case in enumerate(cases):
        for name, text in case["queries"].items():
            apart = text.replace("S//", f"S{number}//").replace("P//", f"P{number}//")
            registry.add(
                f"{name}{number}", penstock.xscl(f"{apart}{number}" if "PUB" in text else apart)
            )
        documents += [
            replace(one, stream=f"S{number}")
            for _, one in streams.arrivals_of(case)
            if isinstance(one, Document)
        ]
    write_batch(tmp_path / "in", 0, documents[::2])
    write_batch(tmp_path / "in", 1, documents[1::2])
    rows = run(spark, tmp_path, registry, limits=penstock.Limits(depth_max=3))
    wanted = Counter(
        f"{one.split()[1]}{number}" for number, case in enumerate(cases) for one in case["results"]
    )
    assert Counter(row["subscription"] for row in rows if row["error"] is None) == wanted
    (failed,) = (row for row in rows if row["error"] is not None)
    assert (failed["subscription"], failed["source"]) == ("deep0", None)
    assert quarantine(spark.read.parquet(str(tmp_path / "out"))).count() == 0


def test_shared_cases_give_the_expected_pairs(
    spark: SparkSession, tmp_path: Path, shared: Path
) -> None:
    random, queries, wanted = Random(1), {}, {}
    documents: list[Document] = []
    for line in (shared / "cases" / "xscl.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        number = len(queries)
        tree = parse((shared / "cases" / "docs" / case["xscl"]["stream"]).read_bytes())
        arrivals = arrivals_of(tree)
        queries[case["id"]] = case["xscl"]["query"].replace("S//", f"S{number}//")
        wanted[case["id"]] = (doubtful(arrivals), expected_pairs(case))
        documents += [
            Document(one.tree.text(one.tree.root).encode(), one.id, f"S{number}", one.time)
            for one in arrivals
        ]
    random.shuffle(documents)
    for number, batch in enumerate((documents[::3], documents[1::3], documents[2::3])):
        write_batch(tmp_path / "in", number, batch)
    rows = run(spark, tmp_path, registry_of(queries))
    for name, (unclear, pairs_wanted) in wanted.items():
        found = {tuple(row["documents"]) for row in rows if row["subscription"] == name}
        assert found - unclear == pairs_wanted - unclear, name


def test_a_stream_goes_on_with_its_state_after_a_restart(
    spark: SparkSession, tmp_path: Path
) -> None:
    registry, source = registry_of({"q": SAME}), tmp_path / "in"
    write_batch(source, 0, [document("a", 1), document("a", 2, 2)])
    write_batch(source, 1, [document("b", 3, 3)])
    query = start(spark, tmp_path, registry, trigger={"availableNow": True})
    query.awaitTermination()
    write_batch(source, 2, [document("b", 4), document("b", 12, 2)])
    rows = run(spark, tmp_path, registry)
    assert pairs(rows) == [("a1", "b4"), ("a2", "b12")]
    assert {row["batch"] for row in rows} == {2}
    progress = join_progress(tmp_path / "state")
    assert (progress.batches, progress.documents, progress.late) == (3, 5, 0)


def test_a_batch_that_comes_again_gives_the_same_rows(spark: SparkSession, tmp_path: Path) -> None:
    registry, source = penstock.Registry.open(tmp_path / "registry"), tmp_path / "in"
    registry.add("q", penstock.xscl(SAME))
    seen: list[tuple[int, Any]] = []

    def collect(rows: DataFrame, number: int) -> None:
        seen.append((number, identities(rows.collect())))

    write_batch(source, 0, [document("a", 1)])
    write_batch(source, 1, [document("b", 2), document("c", 3)])
    options = {"into": collect, "trigger": {"availableNow": True}}
    start(spark, tmp_path, registry, **options).awaitTermination()
    # As if the driver had died just before Spark took down that the batch is over.
    for file in (tmp_path / "state" / "checkpoint" / "commits").glob("*1*"):
        file.unlink()
    registry.remove("q")
    registry.add("c", penstock.xscl("S//c"))
    write_batch(source, 2, [document("b", 4), document("c", 5)])
    start(spark, tmp_path, registry, **options).awaitTermination()
    assert [number for number, _ in seen] == [0, 1, 1, 2]
    assert seen[2] == seen[1]
    assert [row[0] for row in seen[1][1]] == ["q"]
    assert [(row[0], row[3]) for row in seen[3][1]] == [("c", ("c5",))]


def test_subscriptions_come_and_go_while_the_stream_runs(
    spark: SparkSession, tmp_path: Path
) -> None:
    registry, source = penstock.Registry.open(tmp_path / "registry"), tmp_path / "in"
    registry.add("first", penstock.xscl(SAME))
    write_batch(source, 0, [document("a", 1)])
    query = start(spark, tmp_path, registry)
    try:
        query.processAllAvailable()
        registry.add("second", penstock.xscl(SAME))
        registry.add("other", penstock.xscl("S//a->x JOIN{x = y, 10} S//c->y"))
        write_batch(source, 1, [document("b", 2), document("a", 3), document("c", 3)])
        query.processAllAvailable()
        registry.remove("first")
        write_batch(source, 2, [document("b", 4), document("c", 2)])
        query.processAllAvailable()
    finally:
        query.stop()
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    found = sorted((row["batch"], row["subscription"], tuple(row["documents"])) for row in rows)
    assert found == [
        (1, "first", ("a1", "b2")),
        (1, "other", ("a3", "c3")),
        (2, "other", ("a3", "c2")),
        (2, "second", ("a3", "b4")),
    ]


def test_late_and_malformed_documents_are_rows_and_are_counted(
    spark: SparkSession, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    broken = Document(b"<a><k>1</k>", "broken", "S", 18)
    write_batch(source, 0, [document("a", 1), document("a", 18), broken])
    # Only earlier batches make late: within one, any order will do.
    write_batch(source, 1, [document("b", 100), document("b", 20), document("a", 14)])
    write_batch(source, 2, [document("b", 30), document("c", 101)])
    rows = run(spark, tmp_path, registry_of({"q": SAME}), lateness=5)
    failed = sorted((row["document"], row["error"]["code"]) for row in rows if row["error"])
    assert failed == [("b30", "PJ0001"), ("broken", "PD0026")]
    assert pairs(rows) == [("a14", "b20"), ("a18", "b20")]
    (late,) = (row for row in rows if row["document"] == "b30")
    assert bytes(late["source"]) == b"<b><k>1</k></b>"
    progress = join_progress(tmp_path / "state")
    assert (progress.late, progress.watermark_us) == (1, 96_000_000)


def test_state_goes_when_no_window_can_need_it(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(8):
        batch = [document("a", 100 * number + one, one) for one in range(10)]
        write_batch(tmp_path / "in", number, batch)
    # Whoever needs the last batch finds it.
    write_batch(tmp_path / "in", 8, [document("b", 710, 5)])
    rows = run(spark, tmp_path, registry_of({"q": SAME}), lateness=1, buckets=2)
    assert pairs(rows) == [("a705", "b710")]
    assert join_progress(tmp_path / "state").records <= 32


@pytest.mark.parametrize("harm", ["removed", "shortened", "changed"])
def test_a_lost_or_damaged_run_stops_the_stream_and_says_which(
    spark: SparkSession, tmp_path: Path, harm: str
) -> None:
    registry = registry_of({"q": SAME})
    write_batch(tmp_path / "in", 0, [document("a", 1)])
    start(spark, tmp_path, registry, trigger={"availableNow": True}).awaitTermination()
    (file,) = (tmp_path / "state" / "segments").iterdir()
    data = bytearray(file.read_bytes())
    file.unlink()
    if harm == "shortened":
        file.write_bytes(data[:-4])
    elif harm == "changed":
        data[-3] ^= 1
        file.write_bytes(data)
    write_batch(tmp_path / "in", 1, [document("b", 2)])
    from pyspark.errors import StreamingQueryException

    query = start(spark, tmp_path, registry, trigger={"availableNow": True})
    with pytest.raises(StreamingQueryException) as caught:
        query.awaitTermination()
    assert "PJ0002" in str(caught.value)
    assert file.name in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_values_whose_hashes_collide_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    write_batch(tmp_path / "in", 0, [document("a", one, one) for one in range(20)])
    write_batch(tmp_path / "in", 1, [document("b", 9.5, one) for one in (3, 7)])
    write_batch(tmp_path / "in", 2, [document("b", 9.25, 8)])
    rows = run(spark, tmp_path, registry_of({"q": SAME}), hash_bits=1)
    assert pairs(rows) == [("a3", "b9.5"), ("a7", "b9.5"), ("a8", "b9.25")]


def test_a_frequent_value_is_not_what_drives_the_search(
    spark: SparkSession, tmp_path: Path
) -> None:
    both = "S//a->x[k->k][h->h] JOIN{h = i AND k = l, INF} S//b->y[k->l][h->i]"
    make = "<{0}><k>{1}</k><h>hot</h></{0}>".format
    lefts = [Document(make("a", one).encode(), f"a{one}", "S", one) for one in range(3000)]
    write_batch(tmp_path / "in", 0, lefts)
    rights = [Document(make("b", one).encode(), f"b{one}", "S", one) for one in (17, 2999, 3000)]
    write_batch(tmp_path / "in", 1, rights)
    rows = run(spark, tmp_path, registry_of({"q": both}))
    assert pairs(rows) == [("a17", "b17"), ("a2999", "b2999")]
    # All records would be in one bucket otherwise, that of the frequent value.
    manifest = json.loads((tmp_path / "state" / "manifests" / "1.json").read_text().splitlines()[0])
    records = [sum(one["records"] for one in own) for own in manifest["segments"].values()]
    assert len(records) == 4
    assert max(records) < 1500


def test_what_cannot_be_joined_is_refused_at_once(spark: SparkSession, tmp_path: Path) -> None:
    registry = registry_of({"q": SAME})
    batch = spark.createDataFrame([], SCHEMA)
    with pytest.raises(ValueError, match=r"penstock\.spark\.join joins a batch"):
        join_stream(batch, registry, tmp_path / "state", tmp_path / "out")
    (tmp_path / "in").mkdir()
    stream = read_batches(spark, tmp_path / "in")
    with pytest.raises(ValueError, match="there is no column `when`"):
        join_stream(stream, registry, tmp_path / "state", tmp_path / "out", time="when")
    with pytest.raises(ValueError, match="at least one bucket"):
        join_stream(stream, registry, tmp_path / "state", tmp_path / "out", buckets=0)


def test_the_number_of_buckets_stays_as_the_stream_began(
    spark: SparkSession, tmp_path: Path
) -> None:
    from pyspark.errors import StreamingQueryException

    registry = registry_of({"q": SAME})
    write_batch(tmp_path / "in", 0, [document("a", 1)])
    start(spark, tmp_path, registry, trigger={"availableNow": True}).awaitTermination()
    write_batch(tmp_path / "in", 1, [document("b", 2)])
    query = start(spark, tmp_path, registry, trigger={"availableNow": True}, buckets=5)
    with pytest.raises(StreamingQueryException, match="PJ0004"):
        query.awaitTermination()
