"""Damaged and concatenated files as rows of ``penstock-xml``, without Spark around it."""

from pathlib import Path
from typing import Any

import pytest

from penstock.results import Document
from penstock.sources.listing import list_files
from penstock.sources.records import records
from penstock.spark.sources.options import XmlOptions
from penstock.spark.sources.partitions import plan_units
from penstock.spark.sources.reading import batches_of

GOOD = "<list>" + "".join(f"<item>{n}</item>" for n in range(50)) + "</list>\n"
BAD = GOOD.replace("<item>20</item>", "<item>&no;</item>")


def rows(folder: Path, **options: str) -> list[dict[str, Any]]:
    """Return the rows of a folder, whatever its partitions."""
    given = {"path": str(folder), "maxPartitionBytes": "200", **options}
    read = XmlOptions.of(given)
    found = plan_units(list_files([str(folder)]), read)
    return [row for unit in found for batch in batches_of(unit, read) for row in batch.to_pylist()]


@pytest.mark.parametrize("size", ["200", "1m"])
def test_a_damaged_file_is_stopped_rejected_or_skipped(tmp_path: Path, size: str) -> None:
    (tmp_path / "a.xml").write_text(BAD)
    start = BAD.index("<item>&no;")
    expected = {
        "stop": [f"<item>{n}</item>" for n in range(20)],
        "reject": [],
        "skip": [f"<item>{n}</item>" for n in range(50) if n != 20],
    }
    for damaged, texts in expected.items():
        options = {"recordPath": "/list/item", "damaged": damaged, "maxPartitionBytes": size}
        found = rows(tmp_path, **options)
        given = [row for row in found if row["fault"] is None]
        (lost,) = [row for row in found if row["fault"] is not None]
        assert [row["xml"].decode() for row in given] == texts
        for row in given:
            end = row["offset"] + row["length"]
            assert BAD[row["offset"] : end].encode() == row["xml"]
        if damaged == "skip":
            assert (lost["offset"], lost["length"]) == (start, len("<item>&no;</item>"))
            assert lost["id"].endswith(f"a.xml@{start}-{start + lost['length']}")
        assert len(rows(tmp_path, **options, mode="DROPMALFORMED")) == len(texts)
        with pytest.raises(RuntimeError, match=r"a\.xml"):
            rows(tmp_path, **options, mode="FAILFAST")


@pytest.mark.parametrize("damaged", ["stop", "reject", "skip"])
def test_the_source_gives_the_records_that_records_gives(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "a.xml").write_text(GOOD + BAD + GOOD)
    options = {"recordPath": "/list/item", "damaged": damaged, "documents": "many"}
    found = [(row["id"], row["xml"]) for row in rows(tmp_path, **options) if row["xml"] is not None]
    split = records(tmp_path, "/list/item", damaged=damaged, documents="many")  # type: ignore[arg-type]
    expected = [(one.id, one.data) for one in split if isinstance(one, Document)]
    assert found == [one for one in expected if isinstance(one[1], bytes)]


def test_many_documents_of_a_file_are_rows(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text("<a/>\n<?xml version='1.0'?><b/>")
    found = rows(tmp_path, documents="many")
    assert [(row["id"][-7:], row["xml"]) for row in found] == [
        ("a.xml#0", b"<a/>\n"),
        ("a.xml#1", b"<?xml version='1.0'?><b/>"),
    ]
