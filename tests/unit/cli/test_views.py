"""``penstock views``: select, stamp, explain, verify."""

import json
from pathlib import Path

import pytest

from penstock import routing
from penstock.cli import main
from penstock.routing.carriers import read_frames

Capture = pytest.CaptureFixture[str]
SERVERS = {"eu": {"a": "/n/a = 1 and /n/b = 2"}, "us": ["/n/c = 3"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("servers.json").write_text(json.dumps({"servers": SERVERS, "sources": {"eu": 2, "us": 1}}))
    Path("n.xml").write_bytes(b"<n><a>1</a><b>2</b></n>")
    Path("views.json").write_text(routing.Configuration(["/n/a", "/n/b"]).to_json())
    return tmp_path


def test_select_prints_a_configuration(folder: Path, capsys: Capture) -> None:
    assert main(["views", "select", "--servers", "servers.json", "--size", "2", "n.xml"]) == 0
    captured = capsys.readouterr()
    configuration = routing.Configuration.from_json(captured.out)
    assert {view.path for view in configuration.views} == {"/n/a", "/n/b"}
    assert "67% expected hits" in captured.err


def test_stamp_writes_what_verify_finds_right(folder: Path, capsys: Capture) -> None:
    options = ["--configuration", "views.json", "n.xml"]
    assert main(["views", "verify", *options]) == 3
    assert main(["views", "stamp", *options]) == 0
    capsys.readouterr()
    assert main(["views", "verify", *options]) == 0
    assert capsys.readouterr().out == "n.xml: right\n"
    Path("n.xml").write_bytes(b"<n><a>1</a><b>3</b></n>")
    assert main(["views", "verify", *options]) == 3
    assert "/n/b is one element" in capsys.readouterr().out


def test_stamp_goes_on_after_a_bad_document(folder: Path, capsys: Capture) -> None:
    Path("bad.xml").write_bytes(b"<n>")
    assert main(["views", "stamp", "--configuration", "views.json", "bad.xml", "n.xml"]) == 3
    assert "bad.xml: " in capsys.readouterr().err
    assert Path("n.xml.views").exists()


def test_frames_go_to_stdout(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["views", "stamp", "--frames", "--configuration", "views.json", "n.xml"]) == 0
    Path("frames").write_bytes(capfdbinary.readouterr().out)
    with open("frames", "rb") as file:
        ((header, document),) = read_frames(file)
    assert document == Path("n.xml").read_bytes()
    assert len(routing.read(header).entries) == 2


def test_explain_says_what_is_covered(folder: Path, capsys: Capture) -> None:
    options = ["--configuration", "views.json", "--servers", "servers.json"]
    assert main(["views", "explain", *options, "n.xml"]) == 0
    out = capsys.readouterr().out
    assert "server eu: hits 100% of the samples\n  a: covered\n" in out
    assert "/n/c = 3: uncovered" in out
    assert main(["views", "explain", *options, "--server", "us", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["hit_rate"] == 0


@pytest.mark.parametrize("text", ["", "{}", '{"servers": {"a": "/n"}}', '{"servers": []}'])
def test_a_file_without_servers_is_refused(folder: Path, text: str, capsys: Capture) -> None:
    Path("servers.json").write_text(text)
    assert main(["views", "select", "--servers", "servers.json"]) == 4
    assert "PV0006" in capsys.readouterr().err
