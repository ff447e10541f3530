"""``penstock registry``: load subscriptions, and look at them."""

import json
from functools import partial
from pathlib import Path

import pytest

from penstock import Engine, Limits, Registry
from penstock.cli import main

Capture = pytest.CaptureFixture[str]


def test_lines_are_loaded_and_bad_ones_told(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "lines.jsonl"
    file.write_text('{"name": "a", "query": "//a"}\n{"name": "b", "query": "//["}\n')
    folder = str(tmp_path / "registry")
    assert main(["registry", "load", str(file), "--into", folder]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert f"{file}: line 2: PQ0103" in told.err
    assert told.err.endswith(f"{file}: 1 added, 1 failed\n")
    assert [one.name for one in Registry.open(folder)] == ["a"]


def test_lines_replace_on_request(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "lines.csv"
    file.write_text("name,query\na,//a\nb,//b\n")
    folder = str(tmp_path / "registry")
    assert main(["registry", "load", str(file), "--into", folder]) == 0
    assert main(["registry", "load", str(file), "--into", folder]) == 3
    assert "PR0001" in capsys.readouterr().err
    assert main(["registry", "load", str(file), "--into", folder, "--replace", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_what_is_in_a_registry_is_shown(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "registry"
    registry = Registry.open(folder)
    registry.add("a", "//a")
    registry.add("b", "//a")
    assert main(["registry", "show", str(folder)]) == 0
    shown = dict(line.split() for line in capsys.readouterr().out.splitlines())
    assert (shown["subscriptions"], shown["version"], shown["questions"]) == ("2", "2", "1")


def test_what_is_missing_is_said(tmp_path: Path, capsys: Capture) -> None:
    assert main(["registry", "show", str(tmp_path / "none")]) == 4
    assert main(["registry", "load", str(tmp_path / "none"), "--into", str(tmp_path / "r")]) == 4
    assert "none" in capsys.readouterr().err


def test_what_costs_most_comes_first(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "registry"
    registry = Registry.open(folder)
    registry.add("many", "//a")
    registry.add("few", "//b")
    registry.add("none", "//c")
    document = tmp_path / "document.xml"
    document.write_text("<r><a/><a/><b/></r>")
    assert main(["registry", "top", str(folder), str(document)]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[0], row[1], row[3]) for row in rows] == [
        ("66.7%", "2", "many"),
        ("33.3%", "1", "few"),
    ]
    assert main(["registry", "top", str(folder), str(document), "--json", "--count", "1"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["name"], told["matches"]) == ("many", 2)
    document.write_text("<r>")
    assert main(["registry", "top", str(folder), str(document)]) == 3


def test_who_is_suspended_is_shown(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = partial(Engine, limits=Limits(steps_max=10_000))
    monkeypatch.setattr("penstock.engine.Engine", strict)
    folder = tmp_path / "registry"
    registry = Registry.open(folder)
    registry.add("all", "//a")
    registry.add("greedy", "//a[preceding::a/following::a = .]")
    document = tmp_path / "document.xml"
    document.write_text("<r>" + "<a>x</a>" * 3_000 + "</r>")
    command = ["registry", "top", str(folder), *[str(document)] * 3]
    assert main(command) == 3
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [name in line for name, line in zip(("all", "greedy"), lines, strict=True)] == [True] * 2
    assert ["suspended: PL0014: " in line for line in lines] == [False, True]
    assert main([*command, "--json", "--count", "1"]) == 3
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["name"] for one in told] == ["all", "greedy"]
    assert told[0]["suspended"] is None
    assert told[1]["suspended"].startswith("PL0014: ")


def filled(folder: Path) -> Path:
    registry = Registry.open(folder)
    for number in range(40):
        registry.add(f"s{number}", f"//a[@n = {number}]")
    registry.close()
    return folder


def test_damage_is_found_and_repaired(tmp_path: Path, capsys: Capture) -> None:
    folder = filled(tmp_path / "registry")
    assert main(["registry", "verify", str(folder)]) == 0
    assert capsys.readouterr().out == "sound: 40 subscriptions, version 40\n"
    (folder / "head").write_text("?")
    assert main(["registry", "show", str(folder)]) == 2
    assert "PR0030" in capsys.readouterr().err
    assert main(["registry", "verify", str(folder)]) == 3
    assert capsys.readouterr().out.startswith("head: ")
    assert main(["registry", "repair", str(folder)]) == 0
    assert "sound: 40 subscriptions" in capsys.readouterr().out


def test_what_a_repair_loses_is_named(tmp_path: Path, capsys: Capture) -> None:
    folder = filled(tmp_path / "registry")
    database = folder / "registry.sqlite"
    database.write_bytes(database.read_bytes().replace(b"//a[@n = 7]", b"//a[@n = 8]"))
    assert main(["registry", "verify", str(folder)]) == 3
    assert "row 8" in capsys.readouterr().out
    assert main(["registry", "repair", str(folder)]) == 3
    assert "lost: s7\n" in capsys.readouterr().out
    assert main(["registry", "verify", str(folder)]) == 0
    assert main(["registry", "verify", str(tmp_path / "none")]) == 4
