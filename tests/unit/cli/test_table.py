"""``penstock table``: rows in every format, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]
ROWS = "<a><h>x</h><r n='007'><v>1.50</v></r><r n='8'><v>b&#9;c</v><w>true</w></r></a>"
DEFINITION = """
record: //r
columns:
  head: ../h
  n: "@n"
  number: ["@n", integer]
  v: v
  amount: [v, "decimal(5,2)"]
  w: [w, boolean]
  all: ["*", "list[string]"]
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.yaml").write_text(DEFINITION)
    (tmp_path / "rows.xml").write_text(ROWS)
    return tmp_path


def test_rows_are_lines_of_json(files: Path, capsys: Capture) -> None:
    assert main(["table", "table.yaml", "rows.xml"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first == {
        "head": "x",
        "n": "007",
        "number": 7,
        "v": "1.50",
        "amount": 1.5,
        "w": None,
        "all": ["1.50"],
        "errors": None,
    }
    assert second["errors"][0]["column"] == "amount"


def test_sheets_keep_digits_and_tabs(files: Path, capsys: Capture) -> None:
    assert main(["table", "table.yaml", "rows.xml", "--format", "tsv"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("\t") == ["head", "n", "number", "v", "amount", "w", "all", "errors"]
    assert lines[1].split("\t") == ["x", "007", "7", "1.50", "1.50", "", '["1.50"]', ""]
    assert lines[2].split("\t")[3:6] == ["b\\tc", "", "true"]


def test_parquet_has_the_types(files: Path) -> None:
    out = ["--format", "parquet", "--output", "rows.parquet"]
    assert main(["table", "table.yaml", "rows.xml", *out]) == 0
    table = pq.read_table("rows.parquet")
    assert str(table.schema.field("amount").type) == "decimal128(5, 2)"
    assert table.column("number").to_pylist() == [7, 8]


def test_a_file_without_records_has_the_columns_and_ends_with_1(files: Path) -> None:
    (files / "empty.xml").write_text("<a/>")
    out = ["--format", "parquet", "--output", "rows.parquet"]
    assert main(["table", "table.yaml", "empty.xml", *out]) == 1
    assert pq.read_table("rows.parquet").num_rows == 0


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_bad_document_is_named_and_the_others_are_written(
    files: Path, capsys: Capture, form: str
) -> None:
    (files / "bad.xml").write_text("<a>")
    arguments = ["bad.xml", "rows.xml", "--format", form, "--output", "out"]
    assert main(["table", "table.yaml", *arguments]) == 3
    assert "bad.xml" in capsys.readouterr().err
    rows = (files / "out").read_bytes()
    assert pq.read_table("out").num_rows == 2 if form == "parquet" else rows.count(b"\n") == 2


@pytest.mark.parametrize("text", ["record: //r", "[]", "a: [", "record: //r\ncolumns: {}\nx: 1"])
def test_what_is_no_table_is_rejected(files: Path, capsys: Capture, text: str) -> None:
    (files / "table.yaml").write_text(text)
    assert main(["table", "table.yaml", "rows.xml"]) in (2, 4)
    assert "table.yaml" in capsys.readouterr().err


def test_damaged_records_are_skipped_and_said(files: Path, capsys: Capture) -> None:
    (files / "rows.xml").write_text(ROWS.replace("1.50", "&#0;"))
    assert main(["table", "table.yaml", "rows.xml", "--damaged", "skip"]) == 3
    out, error = capsys.readouterr()
    (row,) = map(json.loads, out.splitlines())
    assert (row["head"], row["n"]) == ("x", "8")
    assert "are left out" in error
    assert main(["table", "table.yaml", "rows.xml", "--damaged", "reject"]) == 3
    assert capsys.readouterr().out == ""


def test_many_documents_of_a_file_give_their_rows(files: Path, capsys: Capture) -> None:
    (files / "rows.xml").write_text(ROWS + "\n<?xml version='1.0'?>" + ROWS)
    assert main(["table", "table.yaml", "rows.xml"]) == 3
    assert 'documents="many"' in capsys.readouterr().err
    assert main(["table", "table.yaml", "rows.xml", "--documents", "many"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 4
