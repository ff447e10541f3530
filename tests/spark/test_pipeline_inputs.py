"""What pipelines read: nothing at all, text that declares an encoding, columns of any name."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.cli import run as command
from penstock.spark import join_stream, match, results
from penstock.spark.pipelines import load, run
from penstock.spark.sources import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

LATIN = '<?xml version="1.0" encoding="ISO-8859-1"?><a>Grüße aus Köln €</a>'
WIDE = '<?xml version="1.0" encoding="UTF-16"?><a>Grüße</a>'


def project(folder: Path, source: str, more: str = "") -> Path:
    file = folder / "pipeline.yaml"
    file.write_text(f"""\
sources:
  - {source}
registry:
  subscriptions:
    - {{name: a, query: //a}}
sinks:
  - {{kind: parquet, path: out, rows: all}}
{more}""")
    return file


@pytest.mark.parametrize("trigger", ["batch", "available_now"])
@pytest.mark.parametrize(
    "source",
    [
        "{kind: files, path: empty}",
        "{kind: files, path: 'empty/*.xml'}",
        "{kind: files, path: huge.xml, record: //none, options: {maxPartitionBytes: 1k}}",
    ],
)
def test_nothing_to_read_is_no_documents(
    spark: SparkSession, tmp_path: Path, source: str, trigger: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "huge.xml").write_text("<r>" + "<a>text</a>" * 1000 + "</r>")
    more = "" if trigger == "batch" else f"trigger: {trigger}\ncheckpoint: checkpoint\n"
    outcome = run(load(project(tmp_path, source, more)), spark)
    assert (outcome.documents, outcome.results, outcome.quarantined) == (0, 0, 0)
    assert command.exit_code(outcome) == 0


def test_options_and_schema_of_a_source_stay_its_own(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "shelf.xml").write_text("<s><a>1</a><a>2</a></s>")
    (tmp_path / "a.xml").write_text("<a/>")
    spark.createDataFrame([("x", "<a/>")], "id string, xml string").write.parquet(
        str(tmp_path / "table")
    )
    sources = [
        "{kind: files, path: shelf.xml, record: //a}",
        "{kind: spark, format: parquet, path: table, schema: 'id string, xml string',"
        " document: xml, id: id}",
        "{kind: files, path: a.xml}",
    ]
    outcome = run(load(project(tmp_path, "\n  - ".join(sources))), spark)
    assert (outcome.documents, outcome.results, outcome.quarantined) == (4, 4, 0)


def test_a_file_that_comes_to_an_empty_folder_is_read(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    more = "trigger: available_now\ncheckpoint: checkpoint\n"
    file = project(tmp_path, "{kind: files, path: inbox}", more)
    assert run(load(file), spark).documents == 0
    (tmp_path / "inbox/a.xml").write_text("<a/>")
    outcome = run(load(file), spark)
    assert (outcome.documents, outcome.results) == (1, 1)


@pytest.mark.parametrize("is_streaming", [False, True])
def test_text_is_decoded_already_whatever_it_declares(
    spark: SparkSession, tmp_path: Path, is_streaming: bool
) -> None:
    rows = [("latin", LATIN, 1), ("wide", WIDE, 2), ("none", None, 3), ("bad", "no xml", 4)]
    frame = spark.createDataFrame(rows, "id string, `the.xml` string, at long")
    frame.write.parquet(str(tmp_path / "text"))
    data = [("bytes", LATIN.replace("€", "").encode("latin-1")), ("gz", gzip.compress(b"<a>1</a>"))]
    spark.createDataFrame(data, "id string, xml binary").write.parquet(str(tmp_path / "bytes"))
    source = """{kind: spark, format: parquet, path: text, document: the.xml, id: id,
     schema: 'id string, `the.xml` string, at long'}
  - {kind: spark, format: parquet, path: bytes, document: xml, id: id,
     schema: 'id string, xml binary'}"""
    more = "trigger: available_now\ncheckpoint: checkpoint\n" if is_streaming else ""
    outcome = run(load(project(tmp_path, source, more)), spark)
    assert (outcome.documents, outcome.results, outcome.quarantined) == (6, 4, 2)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    values = {row["document"]: row["value"] for row in found if row["kind"] != "error"}
    assert values == {
        "latin": "<a>Grüße aus Köln €</a>",
        "wide": "<a>Grüße</a>",
        "bytes": "<a>Grüße aus Köln </a>",
        "gz": "<a>1</a>",
    }
    # The rows are those of `match` over the same column.
    registry = penstock.Registry()
    registry.add("a", "//a")
    matched = results(match(frame, registry, document="the.xml")).collect()
    places = {row["document"]: (row["start"], row["end"]) for row in matched}
    mine = {row["document"]: (row["start"], row["end"]) for row in found if row["kind"] != "error"}
    assert places.items() <= mine.items()


def test_a_column_that_holds_no_documents_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    spark.createDataFrame([(1, 2)], "id long, xml long").write.parquet(str(tmp_path / "in"))
    source = "{kind: spark, format: parquet, path: in, document: xml, id: id}"
    with pytest.raises(ValueError, match="not bigint"):
        run(load(project(tmp_path, source)), spark)


@pytest.mark.parametrize("name", ["a.b", "a`b", "x y", "__kept0", "é"])
def test_columns_of_any_name_come_along(spark: SparkSession, name: str) -> None:
    registry = penstock.Registry()
    registry.add("a", "//a")
    frame = spark.createDataFrame([("1", "<a/>", "v", 7)], ["id", "xml", name, "n"])
    (row,) = match(frame, registry).collect()
    assert (row[name], row["n"]) == ("v", 7)


def test_what_is_no_registry_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame([("1", "<a/>")], "id string, xml string")
    query: object = "//a"
    with pytest.raises(TypeError, match=r"a registry is needed, not a str.*registry\.add"):
        match(frame, query)  # type: ignore[arg-type]
    stream = spark.readStream.schema("id string, xml string").parquet(str(tmp_path))
    with pytest.raises(TypeError, match="a registry is needed"):
        join_stream(stream, query, tmp_path / "s", tmp_path / "o")  # type: ignore[arg-type]


def test_offsets_count_bytes_of_the_file_or_of_its_text_in_utf_8(
    spark: SparkSession, tmp_path: Path
) -> None:
    text = '<?xml version="1.0" encoding="UTF-16"?><r><é>ü</é><é>€</é></r>'
    (tmp_path / "wide.xml").write_bytes(text.encode("utf-16"))
    register(spark)
    reader = spark.read.format("penstock-xml")
    (whole,) = reader.load(str(tmp_path / "wide.xml")).collect()
    assert (whole["offset"], whole["length"]) == (0, len(text.encode("utf-16")))
    records = reader.option("recordPath", "//é").load(str(tmp_path / "wide.xml")).collect()
    plain = text.encode("utf-8-sig")  # a byte-order mark counts three bytes, as in UTF-8
    for row in records:
        start = row["offset"]
        assert plain[start : start + row["length"]] == bytes(row["xml"])
    assert len(records) == 2
