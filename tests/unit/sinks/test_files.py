"""Rows in files, written whole."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import SinkError
from penstock.results import COLUMNS, Result
from penstock.sinks import FilesSink

MOMENT = datetime(2024, 5, 1, 12, 30, tzinfo=UTC)


def rows() -> list[Result]:
    registry = penstock.Registry()
    registry.add("all", "//x")
    documents = [
        penstock.Document("<r><x>é</x><x/></r>", id="good", time=MOMENT),
        penstock.Document("<r><x/>", id="bad"),
    ]
    return list(penstock.Engine(registry).run(documents))


def test_json_has_one_line_per_row_with_all_columns(tmp_path: Path) -> None:
    sink = FilesSink(tmp_path, "json")
    assert sink.write(rows(), batch=3, run="r") == 4
    lines = (tmp_path / "run=r" / "batch=3" / "rows.json").read_text("utf-8").splitlines()
    found = [json.loads(line) for line in lines]
    assert [list(one) for one in found] == [list(COLUMNS)] * 4
    assert [one["document"] for one in found] == ["good", "good", "bad", "bad"]
    assert found[0]["value"] == "<x>é</x>"
    assert found[3]["error"]["code"].startswith("PD")


def test_parquet_has_the_schema_of_the_batches(tmp_path: Path) -> None:
    sink = FilesSink(tmp_path)
    assert sink.write(rows()) == 4
    table = pq.ParquetFile(tmp_path / "run=default" / "batch=0" / "rows.parquet").read()
    assert table.column_names == list(COLUMNS)
    assert table["event_time"][0].as_py() == MOMENT
    assert table["source"][3].as_py() == b"<r><x/>"


@pytest.mark.parametrize("form", ["json", "parquet"])
def test_no_rows_give_a_file_without_rows(tmp_path: Path, form: str) -> None:
    sink = FilesSink(tmp_path, form)  # type: ignore[arg-type]
    assert sink.write([]) == 0
    (file,) = Path(sink.folder(0)).iterdir()
    assert file.suffix == f".{form}"


def test_a_batch_takes_the_place_of_an_earlier_attempt(tmp_path: Path) -> None:
    sink = FilesSink(tmp_path, "json")
    sink.write(rows()[:1])
    sink.write(rows())
    (file,) = Path(sink.folder(0)).iterdir()
    assert len(file.read_text("utf-8").splitlines()) == 4


def test_a_failure_in_the_middle_leaves_what_was_there(tmp_path: Path) -> None:
    sink = FilesSink(tmp_path, "json")
    sink.write(rows())

    def broken() -> object:
        yield rows()[0]
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        sink.write(broken())  # type: ignore[arg-type]
    (file,) = Path(sink.folder(0)).iterdir()
    assert len(file.read_text("utf-8").splitlines()) == 4


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(SinkError) as caught:
        FilesSink(tmp_path / "file" / "below").write(rows())
    assert caught.value.code == "PO0001"
    with pytest.raises(ValueError, match="parquet"):
        FilesSink(tmp_path, "csv")  # type: ignore[arg-type]
