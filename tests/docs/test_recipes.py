"""The commands of the recipes, on real files: those beside the checkout, where there are some."""

import csv
import io
import json
import re
import shlex
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from penstock.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"
TEXT = PAGE.read_text("utf-8")
Capture = pytest.CaptureFixture[str]


def command(title: str, number: int = 0) -> list[str]:
    """Return a command of a recipe."""
    section = TEXT[TEXT.index(f"## {title}") :].split("\n## ")[0]
    return shlex.split(re.findall(r"^\$ penstock (.*)$", section, flags=re.MULTILINE)[number])


def put(shared: Path, folder: str, pattern: str) -> None:
    """Copy real files into a folder of a recipe."""
    Path(folder).mkdir()
    for path in sorted((shared / "data").glob(pattern)):
        shutil.copy(path, folder)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_one_query_spans_the_versions_of_statements(shared: Path, capsys: Capture) -> None:
    put(shared, "payments", "iso20022/camt05*.xml")
    text = shlex.join(command("A query that spans the versions"))
    text = text.replace("pacs.008.*", "camt.05*").replace("IntrBkSttlmAmt", "Ntry/p:Amt")
    assert main(shlex.split(text)) == 0
    files = {line.split("\t")[0] for line in capsys.readouterr().out.splitlines()}
    assert files == {"payments/camt052_001_02.xml", "payments/camt053_001_02.xml"}


def test_lines_of_invoices_become_csv(shared: Path, capsys: Capture) -> None:
    put(shared, "invoices", "ubl/*.xml")
    assert main(command("UBL invoices to CSV")) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) > 20
    assert all(row["invoice"] and row["line"] and float(row["amount"]) for row in rows)


def test_statements_become_parquet(shared: Path, capsys: Capture) -> None:
    put(shared, "statements", "iso20022/camt053*.xml")
    (definition,) = re.findall(r'Path\("entries.yaml"\).write_text\("""\\\n(.*?)"""\)', TEXT, re.S)
    Path("entries.yaml").write_text(definition)
    assert main(command("Bank statements to Parquet")) == 0
    rows = pq.read_table("entries.parquet").to_pylist()
    assert len(rows) == 15
    assert all(row["message"] and row["amount"] and row["booked"] for row in rows)
    assert [row["errors"] for row in rows if row["errors"]] == []


def test_nodes_of_a_map_become_a_table(shared: Path, capsys: Capture) -> None:
    shutil.copy(shared / "data" / "osm" / "grid-all.osm", "map.osm")
    assert main(command("OSM nodes to a table", 1)) == 0
    assert main(command("OSM nodes to a table", 2)) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert len(rows) == 960
    assert all(int(row["id"]) and -90 <= float(row["lat"]) <= 90 for row in rows)


def test_many_rules_meet_real_documents(shared: Path, capsys: Capture) -> None:
    with Path("rules.csv").open("w", encoding="utf-8") as lines:
        lines.write("name,query\n")
        lines.writelines(f"rule{n},\"//SPEECH[LINE = '{n}']\"\n" for n in range(1999))
        lines.write("hamlet,\"//SPEECH[SPEAKER = 'HAMLET']\"\n")
    Path("orders").mkdir()
    shutil.copy(shared / "data/shakespeare/hamlet.xml", "orders/03.xml")
    assert main(command("Ten thousand rules")) == 0
    assert main(command("Ten thousand rules", 1)) == 0
    assert capsys.readouterr().out.count("orders/03.xml\thamlet") == 359
    assert main(command("The most expensive rules", 1)) == 0
    assert "hamlet" in capsys.readouterr().out


def test_alerts_are_filtered_by_severity(shared: Path, capsys: Capture) -> None:
    put(shared, "alerts", "cap/amber-alert.xml")
    assert main(command("CAP alerts")) == 0
    assert "Amber Alert" in capsys.readouterr().out
    assert main(command("CAP alerts", 1)) == 1
    assert "Severe" in capsys.readouterr().err


def test_articles_become_json(shared: Path, capsys: Capture) -> None:
    (path,) = (shared / "data" / "pubmed").glob("*.xml")
    shutil.copy(path, "articles.xml")
    assert main(command("PubMed records")) == 0
    (article,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert article["pmid"] == "29768149"
    assert article["title"]


def test_feeds_are_matched_whatever_their_encoding(shared: Path, capsys: Capture) -> None:
    put(shared, "inbox", "feeds/*.rss")
    assert main(["match", "--quiet", "//item/title/text()", "inbox/"]) in (0, 3)
    assert len(capsys.readouterr().out.splitlines()) > 50


def test_a_real_document_that_is_cut_off_says_where(shared: Path, capsys: Capture) -> None:
    Path("orders").mkdir()
    whole = (shared / "data/shakespeare/hamlet.xml").read_bytes()
    Path("orders/99.xml").write_bytes(whole[: len(whole) // 2])
    assert main(command("A document in quarantine", 1)) == 3
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["error"]["path"].startswith("/PLAY/ACT")
    assert row["error"]["byte"] == len(whole) // 2
