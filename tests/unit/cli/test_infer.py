"""``penstock infer``: a table for `penstock table` to run."""

import io
import json
from pathlib import Path

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]
ROWS = "<d><r on='1'><a>1</a><b>007</b></r><r on='2'><a/><b>8</b></r></d>"


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.xml"
    path.write_text(ROWS)
    return path


def test_what_is_printed_runs(sample: Path, capsys: Capture) -> None:
    assert main(["infer", str(sample), "--output", "t.yaml"]) == 0
    text = Path("t.yaml").read_text()
    assert '  a: ["a[normalize-space()]", integer]  # 1 value, all fit, 1 empty\n' in text
    assert "  b: b  # 2 values; text keeps 007 as it is\n" in text
    assert main(["table", "t.yaml", str(sample)]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows == [
        {"on": 1, "a": 1, "b": "007", "errors": None},
        {"on": 2, "a": None, "b": "8", "errors": None},
    ]


def test_headers_can_be_turned_on(sample: Path, capsys: Capture) -> None:
    sample.write_text(f"<s><id>7</id>{ROWS}</s>")
    assert main(["infer", str(sample), "--output", "t.yaml"]) == 0
    text = Path("t.yaml").read_text()
    assert "# id: " in text
    Path("t.yaml").write_text(text.replace("# id: ", "id: "))
    assert main(["table", "t.yaml", str(sample), "--format", "csv"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "1,1,007,7,"


def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(ROWS.encode())))
    assert main(["infer", "-"]) == 0
    assert capsys.readouterr().out.startswith("# 2 records in 1 document\nrecord: /d/r\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.xml"], "No such file"),
        (["rows.xml", "--record", "x"], "no element is called `x`"),
        (["a.xsd", "rows.xml"], "one schema, or documents"),
    ],
)
def test_mistakes_are_reported(
    sample: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    try:
        code = main(["infer", *arguments])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    assert code in (2, 4)
    assert message in capsys.readouterr().err


def test_a_link_that_leads_nowhere_is_noted(sample: Path, capsys: Capture) -> None:
    (sample.parent / "link.xml").symlink_to(sample.parent / "nothing")
    assert main(["infer", "."]) == 0
    out = capsys.readouterr().out
    assert "# 2 records in 1 document\n" in out
    assert "link.xml could not be read: PS0001\n" in out
