"""``penstock match --language xquery``: the elements of files of several streams are joined."""

from pathlib import Path

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]
PAIRS = (
    "for $o in doc('orders')//o, $p in doc('payments')//p where $o/@id = $p/@id "
    "return <done>{$p/@id}</done>"
)
STREAMS = ("--stream", "orders=o*.xml", "--stream", "payments=p*.xml")
XQUERY = ("match", "--language", "xquery", *STREAMS)


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("o1.xml").write_text("<r at='2024-05-01T10:00:00Z'><o id='1'/><o id='2'/></r>")
    Path("p1.xml").write_text("<r at='2024-05-01T10:30:00Z'><p id='2'/></r>")
    Path("p2.xml").write_text("<r at='2024-05-01T18:00:00Z'><p id='1'/></r>")


def test_elements_of_files_are_joined(capsys: Capture) -> None:
    assert main([*XQUERY, PAIRS, "o1.xml", "p1.xml", "p2.xml"]) == 0
    assert capsys.readouterr().out == '<done id="2"/>\n<done id="1"/>\n'


def test_a_window_is_about_event_times(capsys: Capture) -> None:
    times = ("--time", "/*/@at", "--within", "1h")
    assert main([*XQUERY, *times, PAIRS, "o1.xml", "p1.xml", "p2.xml"]) == 0
    assert capsys.readouterr().out == '<done id="2"/>\n'


def test_a_stream_without_files_is_bad_usage(capsys: Capture) -> None:
    arguments = ["match", "--language", "xquery", *STREAMS[:2], PAIRS, "o1.xml"]
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "a query reads the stream `payments`" in capsys.readouterr().err


def test_joins_do_not_run_in_several_processes(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main([*XQUERY, "--jobs", "2", PAIRS, "o1.xml", "p1.xml"])
    assert caught.value.code == 2
    assert "not with queries that join" in capsys.readouterr().err


def test_a_window_is_for_xquery(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["match", "--within", "1h", "//o", "o1.xml"])
    assert caught.value.code == 2
    assert "--within is for XQuery" in capsys.readouterr().err


def test_doc_names_the_file_that_is_given(tmp_path: Path, capsys: Capture) -> None:
    for name, text in (("x.xml", "1"), ("y.xml", "2")):
        (tmp_path / name).write_text(f"<r><a>{text}</a></r>")
    files = [str(tmp_path / name) for name in ("x.xml", "y.xml")]
    query = "for $a in doc('x.xml')//a return <m>{string($a)}</m>"
    assert main(["match", "--no-filename", "--language", "xquery", query, *files]) == 0
    assert capsys.readouterr().out == "<m>1</m>\n"
    joined = "for $a in doc('x.xml')//a, $b in doc('y.xml')//a where $a + 1 = $b return <m/>"
    assert main(["match", "--no-filename", "--language", "xquery", joined, *files]) == 0
    assert capsys.readouterr().out == "<m/>\n"
    named = query.replace("x.xml", f"{tmp_path.name}/x.xml")
    assert main(["match", "--no-filename", "--language", "xquery", named, *files]) == 0
    assert capsys.readouterr().out == "<m>1</m>\n"


def test_no_file_is_read_that_was_not_given(tmp_path: Path, capsys: Capture) -> None:
    for name in ("x.xml", "y.xml"):
        (tmp_path / name).write_text("<r><a>1</a></r>")
    query = f"for $a in doc('{tmp_path}/x.xml')//a return $a"
    with pytest.raises(SystemExit):
        main(["match", "--language", "xquery", query, str(tmp_path / "y.xml")])
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "x.xml`; say which files are of it" in printed.err
    assert "or give the file of that name" in printed.err


def test_a_glob_counts_before_the_name_of_a_file(tmp_path: Path, capsys: Capture) -> None:
    for name in ("x.xml", "y.xml"):
        (tmp_path / name).write_text(f"<r><a>{name}</a></r>")
    files = [str(tmp_path / name) for name in ("x.xml", "y.xml")]
    query = "for $a in doc('x.xml')//a return <m>{string($a)}</m>"
    options = ["--no-filename", "--language", "xquery", "--stream", "x.xml=y*"]
    assert main(["match", *options, query, *files]) == 0
    assert capsys.readouterr().out == "<m>x.xml</m>\n<m>y.xml</m>\n"
