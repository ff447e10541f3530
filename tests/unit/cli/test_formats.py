"""``penstock match --format``: rows for other programs."""

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.cli import main
from penstock.results import COLUMNS

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shop.xml").write_text(
        '<s xmlns:p="urn:p"><b id="1"><t>A, "B"\n\tC\\</t></b><b id="2"><p:t/></b></s>'
    )


def rows_of(capsys: Capture, *arguments: str) -> str:
    """Return what a match prints."""
    assert main(["match", *arguments, "shop.xml"]) == 0
    return capsys.readouterr().out


def test_csv_has_a_line_of_names_and_quotes_what_needs_it(capsys: Capture) -> None:
    out = rows_of(capsys, "--format", "csv", "--select", "id=../../@id", "//t/text()")
    head, *rows = csv.reader(io.StringIO(out, newline=""))
    assert head == ["document", "subscription", "ordinal", "kind", "name", "value", "id"]
    assert rows == [["shop.xml", "query", "0", "text", "", 'A, "B"\n\tC\\', "1"]]


def test_tsv_has_one_line_per_row_whatever_the_values(capsys: Capture) -> None:
    out = rows_of(capsys, "--format", "tsv", "--columns", "kind,value", "//t/text()")
    assert out == 'kind\tvalue\ntext\tA, "B"\\n\\tC\\\\\n'


def test_columns_are_chosen_and_ordered(capsys: Capture) -> None:
    select = ("--select", "id=@id")
    out = rows_of(capsys, "--json", "--columns", "id,name,start", *select, "//b")
    assert [json.loads(line) for line in out.splitlines()] == [
        {"id": "1", "name": "b", "start": 19},
        {"id": "2", "name": "b", "start": 50},
    ]


def test_all_columns_are_there_unless_others_are_named(capsys: Capture) -> None:
    assert list(json.loads(rows_of(capsys, "--format", "jsonl", "//t"))) == list(COLUMNS)


def test_xml_is_a_column_of_fragments_that_stand_alone(capsys: Capture) -> None:
    out = rows_of(capsys, "--format", "tsv", "--columns", "xml", "-n", "p=urn:p", "//p:t")
    assert out == 'xml\n<p:t xmlns:p="urn:p"/>\n'


def test_structured_values_are_json_in_cells(capsys: Capture) -> None:
    select = ("--select", "id=@id", "--select", "no=@no")
    out = rows_of(capsys, "--format", "tsv", "--columns", "bindings", *select, "//b[1]")
    assert json.loads(out.splitlines()[1]) == {"id": "1", "no": None}


def test_documents_that_fail_are_rows_where_there_is_a_column_for_them(capsys: Capture) -> None:
    Path("shop.xml").write_text("<s><b/>")
    for columns, count in (("kind", 1), ("kind,error", 2)):
        command = ["match", "--format", "csv", "--columns", columns, "//b", "shop.xml"]
        assert main(command) == 3
        assert len(capsys.readouterr().out.splitlines()) == 1 + count


def test_parquet_has_the_columns_of_the_rows(capsys: Capture) -> None:
    import pyarrow.parquet as pq

    assert rows_of(capsys, "--format", "parquet", "--output", "out/rows.parquet", "//b") == ""
    table = pq.read_table("out/rows.parquet")
    assert table.column_names == list(COLUMNS)
    assert table.column("ordinal").to_pylist() == [0, 1]
    select = ("--select", "id=@id", "--columns", "id,end")
    rows_of(capsys, "--format", "parquet", "--output", "rows.parquet", *select, "//b")
    assert pq.read_table("rows.parquet").column("id").to_pylist() == ["1", "2"]


def test_a_parquet_file_without_rows_has_its_columns(capsys: Capture) -> None:
    import pyarrow.parquet as pq

    command = ["match", "--format", "parquet", "--output", "rows.parquet", "//none", "shop.xml"]
    assert main(command) == 1
    assert pq.read_table("rows.parquet").column_names == list(COLUMNS)


def test_an_output_file_appears_whole_or_not_at_all(capsys: Capture) -> None:
    assert main(["match", "--output", "out.txt", "//t/text()", "shop.xml"]) == 0
    assert Path("out.txt").read_text() == 'A, "B"\n\tC\\\n'
    assert capsys.readouterr().out == ""
    Path("folder").mkdir()
    assert main(["match", "--output", "folder", "//t", "shop.xml"]) == 4
    assert [path.name for path in Path().iterdir() if path.suffix == ".tmp"] == []


def test_fragments_may_end_with_a_zero_byte(capsys: Capture) -> None:
    assert rows_of(capsys, "-0", "//t/text()") == 'A, "B"\n\tC\\\0'


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--columns", "value"], "--columns is for rows"),
        (["--json", "--columns", "valu"], "did you mean `value`?"),
        (["--json", "--columns", "q"], "there are subscription"),
        (["--json", "-0"], "-0 is for --format text"),
        (["--json", "--count"], "--count prints numbers"),
        (["--format", "parquet"], "needs --output"),
        (["--format", "parquet", "--output", "x", "--follow"], "--follow"),
        (["--format", "cvs"], "did you mean `csv`?"),
        (["--follow", "--jobs", "2"], "--jobs"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], reason: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["match", *options, "//b", "shop.xml"])
    assert caught.value.code == 2
    assert reason in capsys.readouterr().err


def test_a_missing_pyarrow_names_the_line_that_installs_it() -> None:
    script = (
        "import sys; sys.modules['pyarrow'] = None; from penstock.cli import main; "
        "sys.exit(main(['match', '//b', 'shop.xml', '--format', 'parquet', '--output', 'x']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=False)
    assert done.returncode == 4
    assert b"pip install 'penstock-xml[arrow]'" in done.stderr
    assert not Path("x").exists()
