"""Rows in a table, each once however often it is written."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.errors import SinkError
from penstock.results import Result
from penstock.sinks import SqliteSink, WriteMode
from penstock.sinks.tables import TYPES, values


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


def test_a_row_takes_the_place_of_the_one_with_its_id(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")
    sink.write(rows(), run="first")
    assert sink.write(rows(3), run="second") == 5
    found = selected(sink.path, "SELECT document, ordinal, run FROM results ORDER BY 1, 2")
    assert found == [
        ("bad", 0, "second"),
        ("bad", 0, "second"),
        ("good", 0, "second"),
        ("good", 1, "second"),
        ("good", 2, "second"),
    ]


def test_a_row_that_a_later_run_does_not_have_stays(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")
    sink.write(rows(3), run="first")
    sink.write(rows(2), run="second")
    left = "SELECT document, ordinal FROM results WHERE run = 'first'"
    assert selected(sink.path, left) == [("good", 2)]


def test_rows_of_one_batch_are_all_kept(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")
    twice = [*rows(), *rows()]
    assert sink.write(twice, run="first") == 8
    assert sink.write(twice, run="second") == 8
    assert selected(sink.path, "SELECT count(*) FROM results") == [(8,)]


def test_rows_without_a_document_id_equal_no_other(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db")
    nameless = [replace(row, document=None) for row in rows()]  # type: ignore[arg-type]
    sink.write(nameless, batch=1)
    sink.write(nameless, batch=2)
    sink.write(nameless, batch=2)
    assert selected(sink.path, "SELECT count(*), count(id) FROM results") == [(8, 0)]


@pytest.mark.parametrize(
    ("mode", "left"), [("upsert", 5), ("append", 9), ("overwrite", 5), ("fail", 9)]
)
def test_the_mode_says_what_becomes_of_earlier_runs(
    tmp_path: Path, mode: WriteMode, left: int
) -> None:
    sink = SqliteSink(tmp_path / "out.db", write_mode=mode)
    sink.write(rows(), run="first")
    for _ in range(2):
        sink.write(rows(3), run="second")
    assert selected(sink.path, "SELECT count(*) FROM results") == [(left,)]


def test_overwriting_keeps_the_batches_of_the_run(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db", write_mode="overwrite")
    sink.write(rows(), batch=0, run="first")
    sink.write(rows(), batch=0, run="second")
    sink.write(rows(), batch=1, run="second")
    found = selected(sink.path, "SELECT run, batch, count(*) FROM results GROUP BY 1, 2")
    assert found == [("second", 0, 4), ("second", 1, 4)]


def test_a_run_that_must_not_find_rows_does_not_begin(tmp_path: Path) -> None:
    sink = SqliteSink(tmp_path / "out.db", write_mode="fail")
    session: Any = None  # SQLite needs none
    sink.begin(session, "first")
    sink.write(rows(), run="first")
    sink.begin(session, "first")
    for other in ("second", None):
        with pytest.raises(SinkError, match="holds rows of another run") as caught:
            sink.begin(session, other)
        assert caught.value.code == "PO0004"


def test_ids_tell_results_apart() -> None:
    (row, *_) = rows()
    several = [
        row,
        replace(row, subscription=None),
        replace(row, subscription="al", document="lgood"),
        replace(row, ordinal=1),
        replace(row, document="good2"),
    ]
    place = list(TYPES).index("id")
    assert len({values(one, 0, "r")[place] for one in several}) == len(several)


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
