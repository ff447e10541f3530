"""``penstock registry``: load subscriptions, and look at them."""

import json
from functools import partial
from pathlib import Path
from zipfile import ZipFile

import pytest

import penstock
from penstock import Engine, Limits, Registry, xscl
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


def test_joins_and_messages_have_their_share(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "registry"
    registry = Registry.open(folder)
    registry.add("pair", penstock.xscl("S//a->x FOLLOWED BY{x = y, 10} T//b->y"))
    both = "for $a in stream('S')//a, $b in stream('T')//b where $a = $b return <m>{$a}</m>"
    registry.add("both", penstock.xquery(both, within="2 h"))
    registry.add("message", penstock.xquery("<m>{for $a in //a return $a}</m>"))
    registry.add("table", penstock.table("//a", {"value": "."}))
    registry.add("none", penstock.xscl("S//a->x FOLLOWED BY{x = y, 1} T//b->y"))
    (tmp_path / "a.xml").write_text("<r><at>1</at><a>1</a><a>1</a></r>")
    (tmp_path / "b.xml").write_text("<r><at>5</at><b>1</b></r>")
    streams = ["--stream", "S=a.xml", "--stream", "T=b.xml", "--time", "//at"]
    files = [str(tmp_path / "a.xml"), str(tmp_path / "b.xml")]
    assert main(["registry", "top", "--json", *streams, str(folder), *files]) == 0
    lines = map(json.loads, capsys.readouterr().out.splitlines())
    told = {one["name"]: one["matches"] for one in lines}
    assert told == {"pair": 2, "both": 2, "message": 1, "table": 2}


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


@pytest.fixture
def rules(tmp_path: Path) -> str:
    folder = tmp_path / "rules"
    registry = Registry.open(folder)
    registry.add("titles", "//a:title", owner="ann", namespaces={"a": "urn:a"})
    registry.add("price", "//price[. < $p]", mode="filter", variables={"p": 11})
    registry.add("pair", xscl("a//x->x JOIN{x = y, 1 h} b//y->y"), delivery={"to": "mail"})
    registry.add("odd", "//x[. = 'a,\"\n']", delivery='{"}', select={"id": "@id"})
    return str(folder)


def test_one_subscription_is_added_replaced_and_removed(tmp_path: Path, capsys: Capture) -> None:
    folder = str(tmp_path / "new")
    command = ["registry", "add", folder, "t", "//a:t", "-n", "a=urn:a", "--owner", "ann"]
    assert main([*command, "--mode", "filter", "--delivery", '{"to": 1}']) == 0
    one = Registry.open(folder)["t"]
    assert (one.text, one.owner, one.mode, one.delivery) == ("//a:t", "ann", "filter", {"to": 1})
    assert main(command) == 2
    assert "`penstock registry replace` changes it" in capsys.readouterr().err
    assert main(["registry", "replace", folder, "t", "//b"]) == 0
    assert Registry.open(folder)["t"].text == "//b"
    assert main(["registry", "add", folder, "u", "//c"]) == 0
    assert main(["registry", "remove", folder, "t", "none"]) == 2
    assert len(Registry.open(folder)) == 2
    assert main(["registry", "remove", folder, "t", "u"]) == 0
    assert len(Registry.open(folder)) == 0


def test_a_bad_query_changes_nothing(tmp_path: Path, capsys: Capture) -> None:
    assert main(["registry", "add", str(tmp_path / "new"), "t", "//["]) == 2
    assert not (tmp_path / "new").exists()
    assert main(["registry", "replace", str(tmp_path / "new"), "t", "//a"]) == 4
    with pytest.raises(SystemExit):
        main(["registry", "add", str(tmp_path / "new"), "t", "//a", "--delivery", "{"])
    assert "not JSON" in capsys.readouterr().err


def test_subscriptions_are_listed(rules: str, capsys: Capture) -> None:
    assert main(["registry", "list", rules]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "titles\tquery\txpath\tann\t//a:title"
    assert [line.split("\t")[0] for line in lines] == ["titles", "price", "pair", "odd"]
    assert main(["registry", "list", "--like", "p*", rules]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert main(["registry", "list", "--owner", "bob", rules]) == 1


def test_one_subscription_is_shown(rules: str, capsys: Capture) -> None:
    assert main(["registry", "show", rules, "titles"]) == 0
    shown = capsys.readouterr().out
    assert 'namespaces    {"a": ["urn:a"]}' in shown
    assert main(["registry", "show", rules, "none"]) == 2
    assert "PR0002" in capsys.readouterr().err


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_what_is_exported_can_be_loaded_again(form: str, rules: str, tmp_path: Path) -> None:
    file, copy = tmp_path / f"rules.{form}", str(tmp_path / "copy")
    assert main(["registry", "export", rules, "--format", form, "--output", str(file)]) == 0
    assert main(["registry", "load", str(file), "--into", copy]) == 0
    assert list(Registry.open(copy)) == list(Registry.open(rules))


def test_lines_of_list_are_those_of_export(rules: str, capsys: Capture) -> None:
    main(["registry", "list", "--json", rules])
    listed = capsys.readouterr().out
    main(["registry", "export", rules])
    assert capsys.readouterr().out == listed


def test_a_folder_that_is_no_registry_is_not_made_one(tmp_path: Path, capsys: Capture) -> None:
    for action in ("list", "show", "export", "verify", "repair"):
        assert main(["registry", action, str(tmp_path)]) == 4
    assert list(tmp_path.iterdir()) == []
    assert "there is no registry" in capsys.readouterr().err


def test_a_registry_is_matched(rules: str, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.xml"
    path.write_text("<r xmlns:a='urn:a'><a:title>T</a:title><price>9</price></r>")
    assert main(["match", "--registry", rules, str(path)]) == 0
    names = [line.split("\t")[0] for line in capsys.readouterr().out.splitlines()]
    assert sorted(names) == ["price", "titles"]
    assert main(["match", "--registry", str(tmp_path / "none"), str(path)]) == 4
    with pytest.raises(SystemExit):
        main(["match", "--registry", rules, "-q", "a=//a", str(path)])


def test_top_takes_folders_and_archives(rules: str, tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "documents"
    folder.mkdir()
    with ZipFile(folder / "both.zip", "w") as archive:
        archive.writestr("a.xml", "<price>1</price>")
        archive.writestr("b.xml", "<price>2</price>")
    assert main(["registry", "top", "--json", rules, str(folder)]) == 0
    told = json.loads(capsys.readouterr().out.splitlines()[0])
    assert (told["name"], told["matches"]) == ("price", 2)
