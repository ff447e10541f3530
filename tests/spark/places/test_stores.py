"""``penstock-xml`` over real stores: the rows are those of the same files on a disk."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import random
import tarfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.sources.listing import list_files
from penstock.sources.stores import StoreError, Stores
from penstock.spark.pipelines import load, run
from penstock.spark.sources import register
from penstock.spark.sources.hadoop import stores_of
from penstock.spark.sources.options import XmlOptions
from penstock.spark.sources.xml import XmlReader
from tests.spark.helpers.store_servers import SECRET, HdfsPlace, Place, S3Place
from tests.spark.places.flaky import Flaky

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

OPTIONS = {
    "recordPath": "//c:Ntry",
    "namespaces": json.dumps({"c": "urn:camt"}),
    "ancestors": json.dumps({"statement": "//c:Stmt/c:Id"}),
    "maxPartitionBytes": "4k",
}
COLUMNS = ("xml", "member", "offset", "length", "ancestors", "fault")
NAMES = (
    "plain",
    "with space",
    "per%20cent",
    "100%",
    "a+b",
    "üñí/çødé",
    "deep/er/down",
    "#?&=",
    "'\"",
)


def statement(entries: int, generator: random.Random) -> bytes:
    """Return a document with entries of different length, inside each other or in comments."""
    parts = []
    for entry in range(entries):
        filling = "é<!-- <d:Ntry> -->" * generator.randrange(30)
        inner = "<d:Ntry>inner</d:Ntry>" if generator.random() < 0.1 else ""
        own = ' xmlns:e="urn:e"' if generator.random() < 0.2 else ""
        parts.append(f"<d:Ntry{own}><d:Amt>{entry}</d:Amt>{filling}{inner}</d:Ntry>\n")
    body = "".join(parts)
    return (
        f'<?xml version="1.0"?><d:Document xmlns:d="urn:camt"><d:Stmt><d:Id>S{entries}</d:Id>'
        f"{body}</d:Stmt></d:Document>"
    ).encode()


def variants(generator: random.Random) -> dict[str, bytes]:
    """Return files of all kinds by the ends of their names."""
    plain = statement(generator.randrange(150), generator)
    tar = io.BytesIO()
    with tarfile.open(fileobj=tar, mode="w") as archive:
        info = tarfile.TarInfo("in/side.xml")
        info.size = len(plain)
        archive.addfile(info, io.BytesIO(plain))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("one.xml", plain)
        zipped.writestr("two.xml.gz", gzip.compress(plain))
    text = plain.decode().removeprefix('<?xml version="1.0"?>')
    return {
        ".xml": plain,
        ".xml.gz": gzip.compress(plain),
        ".xml.bz2": bz2.compress(plain),
        ".tar": tar.getvalue(),
        ".zip": packed.getvalue(),
        "-latin.xml": f'<?xml version="1.0" encoding="ISO-8859-1"?>{text}'.encode("latin-1"),
        "-wide.xml": f'<?xml version="1.0" encoding="UTF-16"?>{text}'.encode("utf-16"),
        "-doctype.xml": f"<!DOCTYPE d:Document>{text}".encode(),
        "-cut.xml": plain[: len(plain) * 2 // 3],
        "-empty.xml": b"",
        "-junk.xml": generator.randbytes(300),
    }


def read(spark: SparkSession, path: str, options: dict[str, str]) -> list[tuple[Any, ...]]:
    """Return the rows of a folder, without what differs between places."""
    rows = spark.read.format("penstock-xml").options(**options).load(path).collect()
    return sorted(
        (row["id"].removeprefix(path), *(str(row[name]) for name in COLUMNS)) for row in rows
    )


@pytest.mark.parametrize("seed", range(3))
def test_a_store_gives_the_records_that_a_disk_gives(
    spark: SparkSession, store: Place, tmp_path: Path, seed: int
) -> None:
    generator = random.Random(seed)
    for name in NAMES:
        for end, content in variants(generator).items():
            if generator.random() < 0.5:
                path = tmp_path / f"{name}{end}"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
                store.put(f"same {seed}/{name}{end}", content)
    register(spark)
    local = read(spark, str(tmp_path), OPTIONS)
    assert len(local) > 500
    assert read(spark, f"{store.root}/same {seed}", OPTIONS) == local
    whole = {"maxPartitionBytes": "4k"}
    assert read(spark, f"{store.root}/same {seed}", whole) == read(spark, str(tmp_path), whole)


def test_a_large_file_is_read_by_several_tasks(spark: SparkSession, store: Place) -> None:
    content = statement(400, random.Random(1))
    store.put("large/one.xml", content)
    register(spark)
    loaded = spark.read.format("penstock-xml").options(**OPTIONS).load(f"{store.root}/large")
    assert loaded.rdd.getNumPartitions() > 10
    rows = sorted(loaded.collect(), key=lambda row: int(row["id"].rpartition("#")[2]))
    assert len(rows) == 400
    for row in rows:
        piece = content[row["offset"] : row["offset"] + row["length"]]
        assert piece.endswith(b"</d:Ntry>")
        assert row["xml"].endswith(piece[len(b"<d:Ntry") :])


def test_a_stream_of_a_pipeline_reads_each_file_of_a_store_once(
    spark: SparkSession, store: Place, tmp_path: Path
) -> None:
    file = tmp_path / "pipeline.yaml"
    file.write_text(
        "sources:\n"
        f"  - {{kind: files, path: '{store.root}/inbox/*.xml', record: //r,"
        " options: {maxFilesPerTrigger: 2}}\n"
        "registry: {subscriptions: [{name: all, query: /r}]}\n"
        "sinks: [{kind: parquet, path: out}]\n"
        "trigger: available_now\n"
        "checkpoint: checkpoint\n",
        "utf-8",
    )
    counts = []
    for lot in (range(5), range(5, 8), range(0)):
        for number in lot:
            store.put(f"inbox/{number} ü.xml", b"<d><r/><r/></d>")
        outcome = run(load(file), spark)
        counts.append((outcome.batches, outcome.documents, outcome.results))
    assert counts == [(3, 10, 10), (2, 6, 6), (0, 0, 0)]


def test_a_pipeline_keeps_its_checkpoint_and_its_files_in_hdfs(
    spark: SparkSession, store: Place, tmp_path: Path
) -> None:
    if not isinstance(store, HdfsPlace):
        pytest.skip("Spark itself needs a jar for S3")
    file = tmp_path / "pipeline.yaml"
    file.write_text(
        f"sources: [{{kind: files, path: '{store.root}/in'}}]\n"
        "registry: {subscriptions: [{name: all, query: /r}]}\n"
        f"sinks: [{{kind: parquet, path: '{store.root}/out'}}]\n"
        "trigger: available_now\n"
        f"checkpoint: '{store.root}/checkpoint'\n",
        "utf-8",
    )
    for number in range(2):
        store.put(f"in/{number}.xml", b"<r/>")
        assert run(load(file), spark).results == 1
    assert spark.read.parquet(f"{store.root}/out").count() == 2


def reader(spark: SparkSession, path: str) -> XmlReader:
    """Return what Spark makes of the options in a process of its own."""
    options = XmlOptions.of({"path": path, **OPTIONS})
    return XmlReader(replace(options, stores=stores_of(spark), columns=("id", "xml", "fault")))


def faults(source: XmlReader, partitions: Any) -> set[str]:
    """Return the codes of what cannot be read."""
    batches = [batch for one in partitions for batch in source.read(one)]
    rows = [row for batch in batches for row in batch.to_pylist()]
    return {row["fault"]["code"] for row in rows if row["fault"] is not None}


def test_a_file_that_changes_after_planning_is_a_fault(spark: SparkSession, store: Place) -> None:
    content = statement(400, random.Random(2))
    store.put("changing/one.xml", content)
    source = reader(spark, f"{store.root}/changing")
    partitions = source.partitions()
    assert faults(source, partitions) == set()
    # As long as before and, in a store that counts in seconds, of the same time.
    store.put("changing/one.xml", content.replace(b"<d:Amt>7", b"<d:Amt>8"))
    assert faults(source, partitions) == {"PS0004"}


def test_a_file_that_vanishes_after_planning_is_a_fault(spark: SparkSession, store: Place) -> None:
    for name, entries in (("small", 3), ("large", 400)):
        store.put(f"vanishing/{name}.xml", statement(entries, random.Random(3)))
    source = reader(spark, f"{store.root}/vanishing")
    partitions = source.partitions()
    for name in ("small", "large"):
        store.remove(f"vanishing/{name}.xml")
    assert faults(source, partitions) == {"PS0001"}


def test_a_server_that_is_busy_for_a_while_costs_time_and_no_rows(place: Place) -> None:
    content = statement(400, random.Random(4))
    place.put("busy/one.xml", content)
    with Flaky(place, failures=6) as flaky:
        stores = Stores({**place.settings, **flaky.settings})
        (file,) = list_files([f"{flaky.root}/busy"], stores=stores)
        with stores.open(file.path) as opened:
            assert opened.stream().read() == content
        assert flaky.failed == 6


def test_a_server_that_stays_busy_is_an_error_and_no_fault_of_a_file(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.sources.stores.hdfs._RETRY_SECONDS", 0.5)
    monkeypatch.setattr("penstock.sources.stores.arrow._ATTEMPTS", 2)
    place.put("broken/one.xml", b"<a/>")
    with Flaky(place) as flaky:
        stores = Stores({**place.settings, **flaky.settings})
        with pytest.raises(StoreError, match="PS0021"):
            list_files([f"{flaky.root}/broken"], stores=stores)


def test_wrong_credentials_are_an_error_that_does_not_tell_them(place: Place) -> None:
    if not isinstance(place, S3Place):
        pytest.skip("this cluster asks for none")
    place.put("secret/one.xml", b"<a/>")
    for settings in (
        {"fs.s3a.secret.key": SECRET[::-1]},
        {"fs.s3a.bucket.penstock-tests.secret.key": SECRET[::-1]},
        {"fs.s3a.aws.credentials.provider": "x.AnonymousAWSCredentialsProvider"},
    ):
        known = {**place.settings, **settings}
        if "aws" in next(iter(settings)):
            known = {name: value for name, value in known.items() if not name.endswith(".key")}
        with pytest.raises(StoreError, match="PS0021") as caught:
            list_files([f"{place.root}/secret"], stores=Stores(known))
        assert SECRET not in str(caught.value)
        assert SECRET[::-1] not in str(caught.value)
