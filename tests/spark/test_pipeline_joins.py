"""Pipelines join: XSCL beside the other languages, with state in step with the checkpoint."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import StateError
from penstock.spark.pipelines import ConfigurationError, Outcome, load, run
from tests.spark.helpers.stored import Row, engine_row, rows_in

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LATENESS = 4
QUERIES = {
    "ks": ("xpath", "//k"),
    "told": ("xquery", "for $k in //k[. = '1'] return <one>{$k/text()}</one>"),
    "both": (
        "xquery",
        'for $a in stream("S")//a, $t in stream("T")//t where $a/k = $t/k return <at>{$a/k}</at>',
    ),
    "pairs": ("xscl", "S//a->x[k->y] FOLLOWED BY{y = z, 6} S//b->w[k->z]"),
    "lonely": ("xscl", "S//a->x[k->y] NOT FOLLOWED BY{y = z, 2} S//b->w[k->z]"),
    "made": ("xscl", "SELECT <p k='{y}'/> FROM S//a[k->y] JOIN{y = z, 2} S//c[k->z] PUBLISH P"),
    "read": ("xscl", "P//p->p[@k->y] FOLLOWED BY{y = z, 5} S//b[k->z]"),
}
SINKS = {"all": ("sqlite", "rows: all, write: append"), "made": ("json", "subscriptions: [p*, l*]")}
BEYOND = 1e6


def query_of(language: str, text: str) -> object:
    return {"xscl": penstock.xscl, "xquery": penstock.xquery, "xpath": penstock.xpath}[language](
        text
    )


def registry_of(names: Iterator[str] | tuple[str, ...] = tuple(QUERIES)) -> penstock.Registry:
    registry = penstock.Registry()
    for name in names:
        registry.add(name, query_of(*QUERIES[name]))
    return registry


def documents_of(number: int, count: int = 8) -> list[penstock.Document]:
    """Return the documents of a file, nearly in order of time, one of them broken."""
    random, made = Random(number), []
    for one in range(number * count, (number + 1) * count):
        name, end = random.choice("abc"), "" if one % 11 == 5 else ">"
        xml = f"<{name}><k>{random.randrange(4)}</k></{name}{end}".encode()
        time = one / 4 + random.uniform(0, LATENESS - 1)
        made.append(penstock.Document(xml, f"d{one}", "S", time))
    return made


def others_of(number: int) -> list[penstock.Document]:
    """Return the documents of a file of another stream."""
    made = []
    for one in range(2):
        xml = f"<t><k>{number + one}</k></t>".encode()
        made.append(penstock.Document(xml, f"t{number}{one}", "T", 4 * number + one + 2.25))
    return made


def put(folder: Path, number: int, documents: list[penstock.Document], place: str = "in") -> None:
    """Add a file of documents that a stream reads after those with smaller numbers."""
    (folder / place).mkdir(exist_ok=True)
    table = pa.table(
        {
            "id": pa.array([one.id for one in documents], pa.string()),
            "xml": pa.array([one.data for one in documents], pa.binary()),
            "ts": pa.array([one.event_time for one in documents], pa.timestamp("us", "UTC")),
        }
    )
    hidden = folder / place / f"_{number:04}.parquet"
    pq.write_table(table, hidden)
    os.utime(hidden, (1_000_000 + number, 1_000_000 + number))
    hidden.rename(folder / place / f"{number:04}.parquet")


SOURCE = (
    "{kind: spark, format: parquet, path: in, stream: S, document: xml, id: id, time: ts,"
    " schema: 'id string, xml binary, ts timestamp', options: {maxFilesPerTrigger: 1}}"
)
OTHERS = SOURCE.replace("path: in, stream: S", "path: others, stream: T")
STREAM = f"trigger: available_now\ncheckpoint: checkpoint\nlateness: {LATENESS} seconds\n"


def pipeline(folder: Path, more: str = STREAM, registry: object = None) -> Path:
    """Write the file of a pipeline; return its path."""
    entries = [
        {"name": name, "language": language, "query": text}
        for name, (language, text) in QUERIES.items()
    ]
    subscriptions = {"subscriptions": entries} if registry is None else registry
    sinks = [
        f"  - {{kind: {kind}, name: {name}, path: out/{name}, {choice}}}"
        for name, (kind, choice) in SINKS.items()
    ]
    lines = [f"sources: [{SOURCE}]", f"registry: {json.dumps(subscriptions)}", "sinks:", *sinks]
    (folder / "p.yaml").write_text("\n".join([*lines, more]))
    return folder / "p.yaml"


def found(folder: Path, sink: str = "all") -> Counter[Row]:
    return Counter(rows_in(SINKS[sink][0], folder / f"out/{sink}"))


def expected(files: list[list[penstock.Document]]) -> Counter[Row]:
    documents = [document for file in files for document in file]
    engine = penstock.Engine(registry_of(), lateness=LATENESS)
    return Counter(engine_row(row) for row in engine.run(documents))


def the_end() -> list[penstock.Document]:
    return [penstock.Document(b"<end/>", "end", "S", BEYOND)]


def test_a_stream_matches_and_joins_whatever_is_computed_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = [documents_of(number, 16) for number in range(2)]
    for number, file in enumerate(files):
        put(tmp_path, number, file)
        put(tmp_path, number, others_of(number), "others")
    path = pipeline(tmp_path)
    path.write_text(path.read_text().replace(SOURCE, f"{SOURCE}, {OTHERS}"))
    outcome = run(load(path), spark)
    assert (outcome.batches, outcome.documents) == (2, 36)
    # As if the driver had died after the state, and before Spark took down that it is over.
    for file in (tmp_path / "checkpoint/commits").glob("*1*"):
        file.unlink()
    put(tmp_path, 2, the_end())
    outcome = run(load(path), spark)
    wanted = expected([others_of(0), files[0], others_of(1), files[1], the_end()])
    assert len({row[0] for row in wanted if row[0]}) == len(QUERIES)
    assert found(tmp_path) == wanted
    assert found(tmp_path, "made") == Counter(
        {row: count for row, count in wanted.items() if row[0] and row[0][0] in "pl"}
    )
    assert outcome.joins is not None
    assert outcome.joins.watermark_us == int((BEYOND - LATENESS) * 1e6)
    assert "watermark 1970-01-12T13:46:36Z" in outcome.describe()


def test_joins_come_and_go_while_a_stream_runs(spark: SparkSession, tmp_path: Path) -> None:
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.add("ks", "//k")
    stopping = threading.Event()
    has_joins: list[bool] = []

    def feed(number: int) -> None:
        name = "ab"[number % 2]
        xml = f"<{name}><k>1</k></{name}>".encode()
        put(tmp_path, number, [penstock.Document(xml, f"{name}{number}", "S", number)])

    def change(outcome: Outcome) -> None:
        """Change the registry, and only then let the next document come."""
        has_joins.append(outcome.joins is not None)
        if outcome.batches == 2:
            registry.add("pairs", penstock.xscl("S//a->x[k->y] FOLLOWED BY{y = z, 9} S//b[k->z]"))
        elif outcome.batches == 4:
            registry.remove("pairs")
        if outcome.batches == 6:
            stopping.set()
        else:
            feed(outcome.batches)

    feed(0)
    more = STREAM.replace("available_now", "{processing_time: 10 milliseconds}")
    outcome = run(load(pipeline(tmp_path, more, "subscriptions")), spark, change, stopping)
    assert (outcome.batches, outcome.is_stopped) == (6, True)
    rows = found(tmp_path)
    assert sum(count for row, count in rows.items() if row[0] == "ks") == 6
    assert [row[2] for row in rows if row[0] == "pairs"] == ["b3"]
    assert has_joins == [False, False, True, True, True, True]


def test_lost_state_stops_the_stream_and_begins_nothing_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(tmp_path, 0, documents_of(0))
    path = pipeline(tmp_path, STREAM + "state: joins\n")
    run(load(path), spark)
    shutil.rmtree(tmp_path / "joins")
    put(tmp_path, 1, documents_of(1))
    before = found(tmp_path)
    with pytest.raises(StateError, match="PJ0002"):
        run(load(path), spark)
    assert found(tmp_path) == before


def test_a_batch_joins_all_its_documents_bytes_and_text(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = [documents_of(number, 16) for number in range(2)]
    for number, file in enumerate(files):
        put(tmp_path, number, file)
    path = pipeline(tmp_path, "")
    text = path.read_text().replace(", options: {maxFilesPerTrigger: 1}", "")
    # One of two sources has text, which has the declared encoding no more.
    (tmp_path / "in/0001.parquet").rename(tmp_path / "second.parquet")
    table = pq.read_table(tmp_path / "second.parquet")
    head = "<?xml version='1.0' encoding='utf-16'?>"
    declared = [f"{head}{one.decode()}" for one in table["xml"].to_pylist()]
    table = table.set_column(1, "xml", pa.array(declared, pa.string()))
    (tmp_path / "text").mkdir()
    pq.write_table(table, tmp_path / "text/0.parquet")
    source = text.split("[", 1)[1].split("]\n", 1)[0]
    second = source.replace("path: in", "path: text").replace("xml binary", "xml string")
    path.write_text(text.replace(source, f"{source}, {second}", 1))
    files[1] = [
        penstock.Document(one, document.id, "S", document.time)
        for one, document in zip(declared, files[1], strict=True)
    ]
    run(load(path), spark)
    documents = [document for file in files for document in file]
    wanted = Counter(engine_row(row) for row in penstock.Engine(registry_of()).run(documents))
    assert {row[0] for row in wanted} == {None, *QUERIES} - {"both"}
    assert found(tmp_path) == wanted


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (STREAM.replace("4 seconds", "soon"), "`soon` is no duration"),
        ("lateness: 3\n", "none is late"),
        (STREAM + "state: s3a://bucket/state\n", "has to lie on a disk"),
        (STREAM + "state: out/made/state\n", "lie in each other"),
    ],
)
def test_mistakes_of_joins_are_named(tmp_path: Path, more: str, told: str) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(ConfigurationError, match=told):
        load(pipeline(tmp_path, more))
