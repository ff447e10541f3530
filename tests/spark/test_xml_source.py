"""The data source ``penstock-xml``, in batch and as a stream."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import DeploymentError
from penstock.sources.paths import RecordPath
from penstock.sources.splitting import split
from penstock.spark import match, quarantine, results
from penstock.spark.features import Feature
from penstock.spark.sources import register

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark

NAMESPACES = {"c": "urn:camt"}
ANCESTORS = {"statement": "//c:Stmt/c:Id"}
ENTRIES = {"recordPath": "//c:Ntry", "namespaces": NAMESPACES, "ancestors": ANCESTORS}


def statement(number: int, entries: int) -> bytes:
    """Return a document with entries whose prefix is declared at the root."""
    body = "".join(
        f"<d:Ntry><d:Amt>{number}.{entry}</d:Amt></d:Ntry>\n" for entry in range(entries)
    )
    return (
        f'<?xml version="1.0"?><d:Document xmlns:d="urn:camt"><d:Stmt><d:Id>S{number}</d:Id>'
        f"{body}</d:Stmt></d:Document>"
    ).encode()


@pytest.fixture
def source(spark: SparkSession) -> SparkSession:
    """Return the session with the data sources registered."""
    register(spark)
    return spark


def read(spark: SparkSession, path: Path | str, **options: Any) -> DataFrame:
    """Return what the source reads."""
    made = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in options.items()
    }
    return spark.read.format("penstock-xml").options(**made).load(str(path))


def entries(spark: SparkSession, path: Path | str, **options: Any) -> DataFrame:
    """Return the entries of statements."""
    return read(spark, path, **(ENTRIES | options))


def read_here(path: Path | str, **options: Any) -> dict[str, dict[str, Any]]:
    """Return the rows by id as tasks make them, in this process; no id comes twice."""
    from penstock.spark.sources.xml import PenstockXml

    made = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in options.items()
    }
    source = PenstockXml({"path": str(path)} | made)
    reader = source.reader(source.schema())
    parts = [pickle.loads(pickle.dumps(part)) for part in reader.partitions()]
    rows = [row for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    found = {row["id"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_file_is_a_document(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(statement(1, 2))
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(statement(2, 2)))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("d/e.xml", statement(3, 2))
    rows = read_here(tmp_path)
    assert {name: row["xml"] for name, row in rows.items()} == {
        f"{tmp_path}/a.xml": statement(1, 2),
        f"{tmp_path}/b.xml.gz": statement(2, 2),
        f"{tmp_path}/c.zip!d/e.xml": statement(3, 2),
    }
    row = rows[f"{tmp_path}/c.zip!d/e.xml"]
    assert (row["path"], row["member"], row["fault"]) == (f"{tmp_path}/c.zip", "d/e.xml", None)
    assert (row["offset"], row["length"]) == (0, len(statement(3, 2)))


@pytest.mark.parametrize("partition_bytes", ["1", "100", "1k", "1g"])
def test_records_are_the_same_however_a_file_is_cut(tmp_path: Path, partition_bytes: str) -> None:
    document = statement(7, 100)
    path = tmp_path / "a.xml"
    path.write_bytes(document)
    rows = read_here(path, **ENTRIES, maxPartitionBytes=partition_bytes)
    expected = list(split([document], RecordPath("//c:Ntry", NAMESPACES, ANCESTORS)))
    assert len(rows) == len(expected) == 100
    for record in expected:
        row = rows[f"{path}#{record.number}"]
        assert row["xml"] == record.xml
        assert (row["offset"], row["offset"] + row["length"]) == (record.start, record.end)
        assert row["ancestors"] == [("statement", "S7")]
    between = len(document) - sum(row["length"] for row in rows.values())
    assert between == len(document.split(b"<d:Ntry>")[0]) + 100 + len(b"</d:Stmt></d:Document>")


def test_records_of_compressed_files_and_archives(tmp_path: Path) -> None:
    (tmp_path / "b.xml.gz").write_bytes(gzip.compress(statement(2, 3)))
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("e.xml", statement(3, 2))
    rows = read_here(tmp_path, **ENTRIES, maxPartitionBytes="10")
    assert sorted(rows) == [
        *(f"{tmp_path}/b.xml.gz#{number}" for number in range(3)),
        *(f"{tmp_path}/c.zip!e.xml#{number}" for number in range(2)),
    ]


def test_records_of_spark_are_those_of_the_tasks(source: SparkSession, tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.xml").write_bytes(statement(number, 50))
    rows = {row["id"]: row for row in entries(source, tmp_path, maxPartitionBytes="1k").collect()}
    here = read_here(tmp_path, **ENTRIES, maxPartitionBytes="1k")
    assert rows.keys() == here.keys()
    assert len(rows) == 150
    for name, row in rows.items():
        assert bytes(row["xml"]) == here[name]["xml"]
        assert row["ancestors"] == dict(here[name]["ancestors"])
        assert row["offset"] == here[name]["offset"]


def test_what_cannot_be_read_reaches_quarantine_with_its_reason(
    source: SparkSession, tmp_path: Path
) -> None:
    broken = statement(1, 3)[:-10]
    (tmp_path / "broken.xml").write_bytes(broken)
    (tmp_path / "damaged.xml.gz").write_bytes(gzip.compress(statement(2, 50))[:-20])
    (tmp_path / "fine.xml").write_bytes(statement(3, 2))
    registry = penstock.Registry()
    registry.add("amounts", penstock.xpath("//c:Amt", namespaces=NAMESPACES))
    documents = entries(source, tmp_path, maxPartitionBytes="100")
    rows = match(documents, registry, document="xml", id="id", time="ts")
    assert "fault" not in rows.columns
    bad = {row["document"]: row["error"] for row in quarantine(rows).collect()}
    assert bad[f"{tmp_path}/broken.xml"]["byte"] == len(broken)
    assert bad[f"{tmp_path}/damaged.xml.gz"]["code"] == "PS0002"
    assert len(bad) == 2
    good = [row["document"] for row in results(rows).collect()]
    assert sorted(one for one in good if "damaged" not in one) == [
        *(f"{tmp_path}/broken.xml#{number}" for number in range(3)),
        *(f"{tmp_path}/fine.xml#{number}" for number in range(2)),
    ]


def test_modes_say_what_becomes_of_what_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "broken.xml").write_bytes(statement(1, 3)[:-10])
    assert len(read_here(tmp_path, **ENTRIES)) == 4
    assert len(read_here(tmp_path, **ENTRIES, mode="dropMalformed")) == 3
    with pytest.raises(RuntimeError, match="PD00"):
        read_here(tmp_path, **ENTRIES, mode="FAILFAST")


def test_a_document_larger_than_asked_for_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bomb.xml.gz").write_bytes(gzip.compress(b"<a>" + b" " * 100_000 + b"</a>"))
    (row,) = read_here(tmp_path, maxDocumentBytes="50k").values()
    assert row["fault"]["code"] == "PS0007"
    (row,) = read_here(tmp_path, maxDocumentBytes="100007").values()
    assert row["fault"] is None


def stream(source: SparkSession, folder: Path, out: Path, **options: str) -> int:
    """Read all that is there now as a stream; return the number of micro-batches.

    Spark before 4.2 reads one of them in each run.
    """
    if Feature.READ_LIMITS.is_there:
        return run_stream(source, folder, out, **options)
    number = 0
    while run_stream(source, folder, out, oneBatchPerRun="true", **options):
        number += 1
    return number


def run_stream(source: SparkSession, folder: Path, out: Path, **options: str) -> int:
    """Run a stream with the trigger availableNow; return the number of micro-batches."""
    documents = (
        source.readStream.format("penstock-xml")
        .option("recordPath", "//c:Ntry")
        .option("namespaces", json.dumps(NAMESPACES))
        .options(**options)
        .load(str(folder))
    )
    query = (
        documents.drop("ancestors", "fault")
        .writeStream.format("json")
        .option("checkpointLocation", str(out / "checkpoint"))
        .trigger(availableNow=True)
        .start(str(out / "rows"))
    )
    query.awaitTermination()
    return sum(1 for progress in query.recentProgress if progress["numInputRows"])


def ids(source: SparkSession, out: Path) -> list[str]:
    """Return what a stream wrote so far."""
    found = source.read.schema("id string").json(str(out / "rows")).collect()
    return sorted(row["id"].rpartition("/")[2] for row in found)


def test_a_stream_reads_every_file_once_over_restarts(source: SparkSession, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.xml").write_bytes(statement(number, 2))
    assert stream(source, folder, out, maxFilesPerTrigger="2") == 2
    first = [f"{number}.xml#{entry}" for number in range(3) for entry in range(2)]
    assert ids(source, out) == first
    late = folder / "late.xml"
    late.write_bytes(statement(9, 1))
    os.utime(late, (1, 1))
    assert stream(source, folder, out, maxFilesPerTrigger="2") == 1
    assert ids(source, out) == [*first, "late.xml#0"]
    assert stream(source, folder, out) == 0
    assert ids(source, out) == [*first, "late.xml#0"]


def test_a_micro_batch_is_bounded_by_bytes_but_never_empty(tmp_path: Path) -> None:
    from penstock.spark.sources.bounds import ReadAllAvailable
    from penstock.spark.sources.xml import PenstockXml

    for number in range(3):
        (tmp_path / f"{number}.xml").write_bytes(statement(number, 2))
    source = PenstockXml({"path": str(tmp_path), "maxBytesPerTrigger": "200"})
    if not Feature.READ_LIMITS.is_there:
        with pytest.raises(DeploymentError, match=r"PV0001: .* since 4\.2.*oneBatchPerRun"):
            source.streamReader(source.schema())
        source = PenstockXml(dict(source.options) | {"oneBatchPerRun": "true"})
    reader = source.streamReader(source.schema())
    start = reader.initialOffset()
    for number in range(3):
        end = reader.latestOffset(start, reader.getDefaultReadLimit())
        (part,) = reader.partitions(start, end)
        (batch,) = reader.read(part)
        assert batch["id"].to_pylist() == [f"{tmp_path}/{number}.xml"]
        start = end
    assert reader.latestOffset(end, reader.getDefaultReadLimit()) == end
    assert reader.partitions(end, end) == []
    whole = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    assert whole["files"].count(".xml") == 3
