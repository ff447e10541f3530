"""``penstock match``: what goes where, and how it ends."""

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]
FEED = """<feed xmlns="urn:f" xmlns:m="urn:m"><entry id="1"><title>A &amp; B</title></entry>
<entry id="2"><title>C</title><m:x/></entry></feed>"""
DEFAULT = ("-n", "=urn:f")


@pytest.fixture
def feed(tmp_path: Path) -> str:
    path = tmp_path / "feed.xml"
    path.write_text(FEED, "utf-8")
    return str(path)


@pytest.fixture
def bad(tmp_path: Path) -> str:
    path = tmp_path / "bad.xml"
    path.write_text("<feed xmlns='urn:f'><title>T</title></fee>", "utf-8")
    return str(path)


def test_fragments_come_one_per_line(feed: str, capsys: Capture) -> None:
    assert main(["match", *DEFAULT, "//title", feed]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [ElementTree.fromstring(line).text for line in lines] == ["A & B", "C"]


def test_values_are_printed_as_they_are(feed: str, capsys: Capture) -> None:
    assert main(["match", *DEFAULT, "//title/text()", feed]) == 0
    assert capsys.readouterr().out == "A & B\nC\n"
    assert main(["match", *DEFAULT, "count(//entry)", feed]) == 0
    assert capsys.readouterr().out == "2\n"


def test_nothing_matched_is_exit_1(feed: str, capsys: Capture) -> None:
    assert main(["match", "//entry", feed]) == 1
    assert capsys.readouterr().out == ""


def test_a_bad_query_is_exit_2_and_underlined(feed: str, capsys: Capture) -> None:
    assert main(["match", "//[", feed]) == 2
    captured = capsys.readouterr()
    assert "PQ0103" in captured.err
    assert "^" in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    "arguments", [["match"], ["unknown"], [], ["match", "-q", "//a"], ["match", "-n", "x", "/a"]]
)
def test_bad_usage_is_exit_2(arguments: list[str], capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage" in capsys.readouterr().err


def test_failed_documents_are_exit_3_and_the_others_count(
    feed: str, bad: str, capsys: Capture
) -> None:
    assert main(["match", *DEFAULT, "//title/text()", bad, "none.xml", feed]) == 3
    captured = capsys.readouterr()
    assert captured.out == f"{bad}\tT\n{feed}\tA & B\n{feed}\tC\n"
    assert "bad.xml: PD0007" in captured.err
    assert "none.xml: PS0001" in captured.err


def test_a_query_file_that_is_not_there_is_exit_4(feed: str, capsys: Capture) -> None:
    assert main(["match", "--query-file", "none.txt", feed]) == 4
    assert "none.txt" in capsys.readouterr().err


def test_quiet_means_no_word_on_stderr(bad: str, capsys: Capture) -> None:
    assert main(["match", "--quiet", *DEFAULT, "//title", bad]) == 3
    assert capsys.readouterr().err == ""


def test_json_has_one_row_per_line(feed: str, bad: str, capsys: Capture) -> None:
    assert main(["match", "--json", *DEFAULT, "//title", feed, bad]) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["kind"] for row in rows] == ["element", "element", "element", "error"]
    assert rows[0]["document"] == feed
    assert rows[0]["name"] == "{urn:f}title"
    assert rows[-1]["error"]["code"] == "PD0007"


def test_several_queries_are_labelled(feed: str, tmp_path: Path, capsys: Capture) -> None:
    queries = tmp_path / "queries.txt"
    queries.write_text("# two\n\nid = //entry/@id\nx=//@none\n", "utf-8")
    command = ["match", *DEFAULT, "-q", "n=count(//*)", "--query-file", str(queries), feed]
    assert main(command) == 0
    assert capsys.readouterr().out.splitlines() == ["id\t1", "id\t2", "n\t6"]
    assert main([*command, "--count"]) == 0
    assert capsys.readouterr().out.splitlines() == ["n\t1", "id\t2", "x\t0"]


def test_two_queries_of_one_name_are_exit_2(feed: str, capsys: Capture) -> None:
    assert main(["match", "-q", "a=//a", "-q", "a=//b", feed]) == 2
    assert "PR0001" in capsys.readouterr().err


def test_a_count_is_one_number(feed: str, capsys: Capture) -> None:
    assert main(["match", "--count", "//*", feed]) == 0
    assert capsys.readouterr().out == "6\n"
    assert main(["match", "--count", "//none", feed]) == 1
    assert capsys.readouterr().out == "0\n"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("files", [[], ["-"]])
def test_standard_input_is_read(
    pack: Callable[[bytes], bytes],
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Capture,
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(pack(FEED.encode()))))
    assert main(["match", *DEFAULT, "//title/text()", *files]) == 0
    assert capsys.readouterr().out == "A & B\nC\n"


def test_results_inside_a_streamed_one_follow_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("penstock.sources.files.WHOLE_BYTES_MAX", 0)
    monkeypatch.setattr("penstock.sources.files.CHUNK_BYTES", 5)
    path = tmp_path / "nested.xml"
    path.write_text("<r><s>one<s>two<s/></s>three</s><s>four</s></r>", "utf-8")
    assert main(["match", "//s", str(path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "<s>one<s>two<s/></s>three</s>",
        "<s>two<s/></s>",
        "<s/>",
        "<s>four</s>",
    ]


def test_an_error_inside_a_streamed_result_ends_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("penstock.sources.files.WHOLE_BYTES_MAX", 0)
    monkeypatch.setattr("penstock.sources.files.CHUNK_BYTES", 5)
    path = tmp_path / "nested.xml"
    path.write_text("<r><s>one<s>two</s>three</r>", "utf-8")
    good = tmp_path / "good.xml"
    good.write_text("<s/>", "utf-8")
    assert main(["match", "--no-filename", "//s", str(path), str(good)]) == 3
    first, second, third = capsys.readouterr().out.splitlines()
    assert first.startswith("<s>one<s>two</s>")
    assert second == "<s>two</s>"
    assert third == "<s/>"


@pytest.mark.parametrize("order", ["decided", "document"])
def test_the_order_can_be_chosen(order: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<r><a><b/><x/></a></r>", "utf-8")
    assert main(["match", "--order", order, "--json", "//a[x] | //b", str(path)]) == 0
    names = [json.loads(line)["name"] for line in capsys.readouterr().out.splitlines()]
    assert names == (["b", "a"] if order == "decided" else ["a", "b"])


def run(command: list[str], **settings: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "penstock", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": "python"},
    )


def test_results_are_written_while_the_input_arrives() -> None:
    with run(["match", "//b"]) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"<a><b>1</b>")
        process.stdin.flush()
        assert process.stdout.readline() == b"<b>1</b>\n"
        process.stdin.write(b"<b>2</b></a>")
        process.stdin.close()
        assert process.stdout.read() == b"<b>2</b>\n"
    assert process.returncode == 0


def test_a_reader_who_leaves_early_causes_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "many.xml"
    path.write_text("<a>" + "<b>text</b>" * 100_000 + "</a>", "utf-8")
    with run(["match", "//b", str(path)]) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_values_beside_a_result_are_in_its_row(feed: str, capsys: Capture) -> None:
    beside = ("--select", "id=../@id", "--select", "x=../*[2]")
    assert main(["match", *DEFAULT, "--json", *beside, "//title", feed]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["bindings"] for row in rows] == [{"id": "1", "x": None}, {"id": "2", "x": ""}]


def test_without_rows_nothing_can_be_beside_them(feed: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["match", "--select", "id=@id", "//title", feed])
    assert caught.value.code == 2
    assert "--json" in capsys.readouterr().err


def test_what_gave_nothing_is_explained_in_two_lines(feed: str, capsys: Capture) -> None:
    assert main(["match", "//entry/title", feed]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "`entry`, `title` exist only in namespace urn:f; the query asks for no namespace",
        "bind a prefix and use it: -n p=urn:f and p:entry",
    ]
    assert main(["match", *DEFAULT, "//entry[@id = 'I']", feed]) == 1
    assert capsys.readouterr().err.splitlines() == [
        "`//entry` 2 → `[@id = 'I']` 0",
        'values of `@id` seen: "1", "2"',
    ]
    assert main(["match", "--quiet", "//entry", feed]) == 1
    assert capsys.readouterr().err == ""


def test_of_several_queries_those_without_rows_are_explained(feed: str, capsys: Capture) -> None:
    queries = ["-q", "t=//title", "-q", "u=//titel", "--count"]
    assert main(["match", *DEFAULT, *queries, feed]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "u: `//titel` 0",
        "u: no element is called `titel`; similar: title",
    ]


def test_nothing_in_standard_input_is_explained_as_well(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(FEED.encode()))))
    assert main(["match", *DEFAULT, "//titel"]) == 1
    assert "similar: title" in capsys.readouterr().err


def test_of_many_subscriptions_without_rows_most_are_only_named(feed: str, capsys: Capture) -> None:
    queries = [word for number in range(30) for word in ("-q", f"q{number}=//n{number}")]
    assert main(["match", *queries, feed]) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[-1].startswith("25 further subscriptions gave no row: q5, q6")


def test_a_folder_without_files_is_reported(tmp_path: Path, capsys: Capture) -> None:
    assert main(["match", "//a", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "nothing was read: there are no files\n"
    assert main(["check", "//a", "--sample", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "nothing was read: there are no files\n"


def test_what_is_said_of_many_files_is_true_of_all(tmp_path: Path, capsys: Capture) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}.xml").write_text("<a><b/></a>" if number < 19 else "<a><c/></a>")
    assert main(["match", "//c[. = 'x']", str(tmp_path)]) == 1
    assert "`//c` 1 → `[. = 'x']` 0" in capsys.readouterr().err
