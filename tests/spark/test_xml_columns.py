"""``penstock-xml`` makes only the columns that are asked for."""

from __future__ import annotations

import gzip
import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.spark import match
from penstock.spark.pipelines.inputs import documents
from penstock.spark.pipelines.settings import FileSource
from penstock.spark.schema import schema_of
from penstock.spark.sources import register
from penstock.spark.sources.options import XML_COLUMNS
from penstock.spark.sources.xml import PenstockXml

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

RECORDS = "<r><head>h</head>" + "<a>1</a><a><b/></a>" * 40 + "</r>"
BROKEN = RECORDS[:-4] + "</x>"
OPTIONS = {"recordPath": "//a", "ancestors": '{"head": "/r/head"}'}
CHOICES = ["id,xml", "xml", "fault, id", "ancestors,xml,ts", "length,offset", ",".join(XML_COLUMNS)]


def read(source: PenstockXml, schema: Any = None) -> list[dict[str, Any]]:
    """Return the rows that tasks make, in this process."""
    reader = source.reader(source.schema() if schema is None else schema)
    parts = [pickle.loads(pickle.dumps(part)) for part in reader.partitions()]
    batches = [batch for part in parts for batch in reader.read(part)]
    return [row for batch in batches for row in batch.to_pylist()]


def picked(rows: list[dict[str, Any]], names: list[str]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in names} for row in rows]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with files that are cut, read whole, compressed and broken."""
    (tmp_path / "a.xml").write_text(RECORDS)
    (tmp_path / "b.xml").write_text(BROKEN)
    (tmp_path / "c.xml.gz").write_bytes(gzip.compress(RECORDS.encode()))
    return tmp_path


@pytest.mark.parametrize("options", [{}, OPTIONS, {**OPTIONS, "maxPartitionBytes": "100"}])
@pytest.mark.parametrize("columns", CHOICES)
def test_columns_that_are_left_out_change_no_others(
    folder: Path, options: dict[str, str], columns: str
) -> None:
    given = {"path": str(folder), **options}
    every = read(PenstockXml(given))
    found = read(PenstockXml({**given, "columns": columns}))
    names = [name.strip() for name in columns.split(",")]
    assert list(found[0]) == names
    assert found == picked(every, names)
    assert len(found) == (3 if not options else 241)


def test_a_schema_chooses_columns_too(folder: Path) -> None:
    source = PenstockXml({"path": str(folder), **OPTIONS})
    schema = schema_of({"xml": bytes, "id": str})
    assert read(source, schema) == picked(read(source), ["xml", "id"])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("id,xnl", "there is no column `xnl`; there are id, xml, path"),
        ("", "there is no column ``"),
        ("id,ID", "there is no column `ID`"),
        ("id, xml,id", "the column `id` is asked for twice"),
    ],
)
def test_what_is_no_column_is_refused(folder: Path, columns: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PenstockXml({"path": str(folder), "columns": columns}).schema()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"id": str, "text": str}, "there is no column `text`"),
        ({"id": str, "xml": str}, "the column `xml` is binary, not string"),
    ],
)
def test_a_schema_of_other_columns_is_refused(
    folder: Path, columns: dict[str, Any], message: str
) -> None:
    source = PenstockXml({"path": str(folder)})
    for reader in (source.reader, source.streamReader):
        with pytest.raises(ValueError, match=message):
            reader(schema_of(columns))


def test_a_column_that_was_left_out_cannot_be_selected(spark: SparkSession, folder: Path) -> None:
    from pyspark.errors import AnalysisException

    register(spark)
    reader = spark.read.format("penstock-xml").options(**OPTIONS).option("columns", "xml,id")
    found = reader.load(str(folder / "a.xml"))
    assert found.columns == ["xml", "id"]
    with pytest.raises(AnalysisException, match=r"(?s)`ts`.*`xml`, `id`|`ts`.*`id`, `xml`"):
        found.select("ts")
    with pytest.raises(ValueError, match="there is no column `ts`; the documents have `xml`, `id`"):
        match(found, penstock.Registry(), time="ts")
    chosen = spark.read.format("penstock-xml").schema("id string, xml binary").options(**OPTIONS)
    assert {tuple(row) for row in chosen.load(str(folder / "a.xml")).collect()} == {
        (row["id"], bytes(row["xml"])) for row in found.collect()
    }


@pytest.mark.parametrize(
    ("ancestors", "columns"),
    [({}, "xml,id,ts,fault"), ({"head": "/r/head"}, "xml,id,ts,fault,ancestors")],
)
def test_a_pipeline_asks_for_what_it_needs(
    spark: SparkSession, folder: Path, ancestors: dict[str, str], columns: str
) -> None:
    source = FileSource("s", str(folder / "b.xml"), "//a", {}, ancestors)
    frame = documents(spark, (source,), penstock.Limits(), is_streaming=False)
    scan = re.search(r"penstock-xml\[(.*?)\]", frame._jdf.queryExecution().toString())
    assert scan is not None
    assert re.findall(r"(\w+)#", scan[1]) == columns.split(",")
    rows = frame.collect()
    assert ("ancestors" in frame.columns) == bool(ancestors)
    for row in rows:
        if ancestors and row["fault"] is None:
            assert row["ancestors"] == {"head": "h"}
    assert [row["fault"]["code"] for row in rows if row["fault"] is not None] == ["PD0007"]
