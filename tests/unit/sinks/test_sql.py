"""Rows in a table, each once however often it is written."""

import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest

import penstock
from penstock.errors import SinkError
from penstock.results import Result
from penstock.sinks import SqliteSink
from penstock.sinks.sql import TYPES


def rows(count: int = 2) -> list[Result]:
    registry = penstock.Registry()
    registry.add("all", "//x")
    documents = [
        penstock.Document(f"<r>{'<x/>' * count}</r>", id="good", time=datetime(2024, 5, 1)),
        penstock.Document("<r><x/>", id="bad"),
    ]
    return list(penstock.Engine(registry).run(documents))


def selected(path: Path, text: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(text).fetchall()


def test_rows_have_their_columns(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "out.db"
    assert SqliteSink(path).write(rows()) == 4
    assert selected(path, "SELECT document, ordinal, event_time FROM results LIMIT 2") == [
        ("good", 0, "2024-05-01T00:00:00+00:00"),
        ("good", 1, "2024-05-01T00:00:00+00:00"),
    ]
    faults = 'SELECT subscription, kind, error_line, source, "end" FROM results WHERE error_code'
    assert selected(path, faults + " IS NOT NULL") == [(None, "error", 1, b"<r><x/>", None)]
    assert [column[1] for column in selected(path, "PRAGMA table_info(results)")] == list(TYPES)


def test_a_batch_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")
    assert sink.write(rows(), batch=1, run="r") == 4
    assert sink.write(rows(5), batch=1, run="r") == 0
    batches = 'SELECT run, batch, "rows" FROM penstock_batches'
    assert selected(sink.path, batches) == [("r", 1, 4)]


def test_a_row_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")
    sink.write(rows(), batch=1)
    assert sink.write(rows(3), batch=2) == 1
    assert selected(sink.path, "SELECT count(*) FROM results") == [(5,)]


def test_a_failure_in_the_middle_leaves_nothing(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")

    def broken() -> object:
        yield from rows()
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        sink.write(broken(), batch=1)  # type: ignore[arg-type]
    assert sink.write(rows(), batch=1) == 4


def test_two_sinks_share_a_file(tmp_path: Path) -> None:
    path = tmp_path / "out.db"
    assert SqliteSink(path, "results").write(rows(), batch=1) == 4
    assert SqliteSink(path, "quarantine").write(rows()[-1:], batch=1) == 1


def test_another_table_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE results (a)")
    with pytest.raises(SinkError) as caught:
        SqliteSink(path).write(rows())
    assert caught.value.code == "PO0003"


def test_what_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "out.db").write_text("not a database" * 100)
    with pytest.raises(SinkError) as caught:
        SqliteSink(tmp_path / "out.db").write(rows())
    assert caught.value.code == "PO0001"
    with pytest.raises(ValueError, match="letters"):
        SqliteSink(tmp_path / "other.db", 'a"; DROP TABLE results')
