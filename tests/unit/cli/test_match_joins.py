"""``penstock match --language xscl``: files of several streams are joined."""

import io
import json
from pathlib import Path

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]
BOTH = "orders//o->x FOLLOWED BY{x/@id = y/@id, 1 h} payments//p->y"
STREAMS = ("--stream", "orders=o*.xml", "--stream", "payments=p*.xml")
XSCL = ("match", "--language", "xscl", "--time", "/*/@at", *STREAMS)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("o1.xml").write_text("<o id='1' at='2024-05-01T10:00:00Z'/>")
    Path("o2.xml").write_text("<o id='2' at='2024-05-01T10:00:00+02:00'/>")
    Path("p1.xml").write_text("<p id='1' at='1714558200'/>")  # half past ten
    Path("p2.xml").write_text("<p id='2' at='2024-05-01T10:30:00'/>")
    Path("bad.xml").write_text("<o id='3' at='2024-05-01T10:00:00Z'></p>")


@pytest.mark.parametrize("order", [["o1.xml", "p1.xml"], ["p1.xml", "o1.xml"]])
def test_files_are_joined_by_event_time_in_any_order(order: list[str], capsys: Capture) -> None:
    assert main([*XSCL, BOTH, *order]) == 0
    event = "<event><o id='1' at='2024-05-01T10:00:00Z'/><p id='1' at='1714558200'/></event>\n"
    assert capsys.readouterr().out == event


def test_rows_of_joins_have_the_columns(capsys: Capture) -> None:
    assert main([*XSCL, "--json", BOTH, "o1.xml", "o2.xml", "p1.xml", "p2.xml"]) == 0
    (row,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert row["kind"] == "event"
    assert row["stream"] == "payments"
    assert row["documents"] == ["o1.xml", "p1.xml"]
    assert row["event_time"] == "2024-05-01T10:10:00+00:00"


def test_what_is_not_followed_is_printed_at_the_end(capsys: Capture) -> None:
    query = "SELECT k FROM orders//o->o[@id->k] NOT FOLLOWED BY{k = m, 1 h} payments//p[@id->m]"
    assert main([*XSCL, query, "o1.xml", "o2.xml", "p1.xml", "p2.xml"]) == 0
    assert capsys.readouterr().out == "<event>2</event>\n"


def test_nothing_joined_is_exit_1(capsys: Capture) -> None:
    assert main([*XSCL, BOTH, "o2.xml", "p1.xml"]) == 1
    assert capsys.readouterr().out == ""


def test_a_published_stream_needs_no_files(capsys: Capture) -> None:
    pairs = "SELECT <pair id='{x}'/> FROM orders//o/@id->x JOIN{x = y, 1 h} payments//p/@id->y"
    queries = ("-q", f"a={pairs} PUBLISH pairs", "-q", "b=pairs//pair/@id->k")
    assert main([*XSCL, *queries, "o1.xml", "p1.xml"]) == 0
    assert capsys.readouterr().out.splitlines() == ['a\t<pair id="1"/>', "b\t1"]


def test_a_document_that_fails_is_exit_3_and_the_others_are_joined(capsys: Capture) -> None:
    command = [*XSCL, "--stream", "orders=bad.xml", BOTH]
    assert main([*command, "bad.xml", "o1.xml", "p1.xml", "pnone.xml"]) == 3
    captured = capsys.readouterr()
    assert captured.out.startswith("<event><o id='1'")
    assert "bad.xml: PD0007" in captured.err
    assert "pnone.xml: PS0001" in captured.err


def test_a_late_document_is_exit_3_where_a_lateness_is_given(capsys: Capture) -> None:
    command = [*XSCL, BOTH, "p2.xml", "o2.xml"]
    assert main(command) == 1
    assert main([*command, "--lateness", "3600"]) == 3
    assert "o2.xml: PJ0001" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<o/>", "PS0010: the document states no event time: /*/@at is empty"),
        ("<o at='soon'/>", "PS0010: `soon` is no event time"),
        ("<o at='10000-01-01'/>", "PS0010: `10000-01-01` is no event time"),
        ("<o at='1e12'/>", "PS0010: `1e12` is no event time"),
        ("<o at='999999999999'/>", "PS0010: 999999999999.0 is no event time"),
        ("<o", "PD"),
    ],
)
def test_a_document_without_an_event_time_fails(text: str, reason: str, capsys: Capture) -> None:
    Path("o3.xml").write_text(text)
    assert main([*XSCL, BOTH, "o3.xml", "o1.xml", "p1.xml"]) == 3
    captured = capsys.readouterr()
    assert f"o3.xml: {reason}" in captured.err
    assert captured.out.startswith("<event><o id='1'")


def test_standard_input_is_a_file_called_minus(
    monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path("p1.xml").read_bytes())))
    assert main([*XSCL, "--stream", "payments=-", BOTH, "o1.xml", "-"]) == 0
    assert capsys.readouterr().out.startswith("<event>")


def test_a_stream_without_files_is_refused(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["match", "--language", "xscl", BOTH, "o1.xml", "p1.xml"])
    assert caught.value.code == 2
    assert "a query reads the stream `orders`" in capsys.readouterr().err


def test_a_file_that_nobody_reads_is_refused(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*XSCL, BOTH, "o1.xml", "bad.xml"])
    assert caught.value.code == 2
    assert "bad.xml fits no --stream" in capsys.readouterr().err


def test_a_file_that_fits_no_stream_is_of_the_default(capsys: Capture) -> None:
    query = "default//o->x JOIN{x/@id = y/@id, 1 h} payments//p->y"
    command = ["match", "--language", "xscl", "--time", "/*/@at", "--stream", "payments=p*.xml"]
    assert main([*command, query, "o1.xml", "p1.xml"]) == 0
    assert capsys.readouterr().out.count("<event>") == 1


def test_a_glob_fits_the_last_parts_of_a_path(tmp_path: Path, capsys: Capture) -> None:
    streams = ("--stream", f"orders={tmp_path.name}/o*", "--stream", "payments=p?.xml")
    files = (str(tmp_path / "o1.xml"), str(tmp_path / "p1.xml"))
    command = ["match", "--language", "xscl", "--time", "/*/@at", *streams, "--count", BOTH]
    assert main([*command, *files]) == 0
    assert capsys.readouterr().out == "1\n"


def test_rows_of_xpath_have_streams_and_times_as_well(capsys: Capture) -> None:
    command = ["match", "--json", "--time", "/*/@at", *STREAMS, "//*/@id", "o2.xml", "bad.xml"]
    assert main(command) == 3
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["kind"], row["stream"]) for row in rows] == [
        ("attribute", "orders"),
        ("attribute", "default"),
        ("error", "default"),
    ]
    assert rows[0]["event_time"] == "2024-05-01T08:00:00+00:00"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--select", "a=@id", "--json"], "are for XPath"),
        (["--dialect", "xsq"], "are for XPath"),
        (["--stream", "=*.xml"], "names no stream"),
        (["--stream", "orders"], "not of the form"),
        (["--lateness", "-1"], "no number of seconds"),
        (["--lateness", "nan"], "no number of seconds"),
    ],
)
def test_options_that_make_no_sense_are_refused(
    options: list[str], reason: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*XSCL, *options, BOTH, "o1.xml"])
    assert caught.value.code == 2
    assert reason in capsys.readouterr().err


@pytest.mark.parametrize("path", ["/*/@", "/p:a"])
def test_a_path_of_times_that_is_none_is_exit_2(path: str, capsys: Capture) -> None:
    command = ["match", "--language", "xscl", "--time", path, *STREAMS, BOTH, "o1.xml"]
    assert main(command) == 2
    captured = capsys.readouterr()
    assert "PQ01" in captured.err
    assert "string(" not in captured.err


def test_namespaces_hold_for_the_query_and_the_times(capsys: Capture) -> None:
    Path("o3.xml").write_text("<o xmlns='urn:o'><at>2024-05-01</at></o>")
    command = ["match", "--language", "xscl", "-n", "n=urn:o", "--time", "/n:o/n:at", "--json"]
    assert main([*command, *STREAMS, "orders//n:o/n:at->x", "o3.xml"]) == 0
    assert json.loads(capsys.readouterr().out)["event_time"] == "2024-05-01T00:00:00+00:00"
