"""Bulk load: what a line says, which lines fail and why, and that the rest is there."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock import Registry
from penstock.errors import RegistryError
from penstock.registry.loading import load
from penstock.registry.loading.lines import LineError
from penstock.registry.loading.load import LoadReport
from penstock.registry.storage.verify import verify

LINES = [
    {"name": "a", "query": "//x[@y = 1]", "owner": "me", "delivery": {"to": "there"}},
    {"name": "b", "query": "//p:x", "namespaces": {"p": "urn:p"}, "mode": "filter"},
    {"name": "c", "query": "x/count()", "dialect": "xsq", "mode": "running", "delivery": "here"},
    {"name": "d", "query": "//x[@y = $y]", "variables": {"y": "1"}, "language": "xpath"},
    {"name": "e", "query": "x[2]", "select": {"up": "..", "n": "@n"}, "context": "/*/y"},
]


def written(path: Path, lines: list[object]) -> Path:
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines))
    return path


def both(tmp_path: Path) -> list[Registry]:
    return [Registry(), Registry.open(tmp_path / "registry")]


def described(registry: Registry) -> list[tuple[object, ...]]:
    return [(one.name, one.query, one.mode, one.owner, one.delivery) for one in registry]


def test_lines_become_what_add_makes_of_them(tmp_path: Path) -> None:
    expected = Registry()
    expected.add("a", "//x[@y = 1]", owner="me", delivery={"to": "there"})
    expected.add("b", penstock.xpath("//p:x", namespaces={"p": "urn:p"}), "filter")
    expected.add("c", penstock.xpath("x/count()", dialect="xsq"), "running", delivery="here")
    expected.add("d", penstock.xpath("//x[@y = $y]", variables={"y": "1"}))
    beside = {"up": "..", "n": "@n"}
    expected.add("e", penstock.xpath("x[2]", select=beside, context="/*/y"))
    file = written(tmp_path / "lines.jsonl", [*LINES, ""])
    document = '<r><x y="1"/><p:x xmlns:p="urn:p"/><y><x/><x n="2"/></y></r>'
    rows = sorted(map(repr, penstock.Engine(expected).run(document)))
    for registry in both(tmp_path):
        report = registry.load(file)
        assert (report.lines, report.added, report.failed) == (5, 5, 0)
        assert described(registry) == described(expected)
        assert sorted(map(repr, penstock.Engine(registry).run(document))) == rows
    again = Registry.open(tmp_path / "registry")
    assert described(again) == described(expected)
    assert again.version == 1


def test_csv_has_the_same_fields(tmp_path: Path) -> None:
    file = tmp_path / "lines.csv"
    file.write_text(
        "name,query,mode,namespaces,delivery,owner\r\n"
        'a,"//x[@y = ""1""]",,,there,me\r\n'
        'b,//p:x,filter,"{""p"": ""urn:p""}","{""to"": 1}",\r\n'
        "\r\n"
        "c,//x,,no json,,\r\n"
        'd,"//\r\nx",,,,\r\n'
    )
    for registry in both(tmp_path):
        report = registry.load(file)
        assert [(error.line, error.code) for error in report.errors] == [(5, "PR0020")]
        assert [one.name for one in registry] == ["a", "b", "d"]
        a, b, _ = registry
        assert (a.text, a.mode, a.owner, a.delivery) == ('//x[@y = "1"]', "query", "me", "there")
        assert (b.mode, b.owner, b.delivery) == ("filter", None, {"to": 1})


def test_bad_lines_are_told_and_the_rest_is_loaded(tmp_path: Path) -> None:
    bad = [
        ("{", "PR0020"),
        ("[1]", "PR0020"),
        ({"name": "n"}, "PR0020"),
        ({"query": "//x"}, "PR0020"),
        ({"name": "", "query": "//x"}, "PR0020"),
        ({"name": 1, "query": "//x"}, "PR0020"),
        ({"name": "n", "query": "//x", "colour": "red"}, "PR0020"),
        ({"name": "n", "query": "//x", "language": "sql"}, "PR0020"),
        ({"name": "n", "query": "//x", "namespaces": "urn:p"}, "PR0020"),
        ({"name": "n", "query": "//x", "select": ["@n"]}, "PR0020"),
        ({"name": "n", "query": "//x", "context": 1}, "PR0020"),
        ({"name": "n", "query": "//x", "mode": "loud"}, "PR0004"),
        ({"name": "n", "query": "//x", "mode": "running"}, "PR0004"),
        ({"name": "n", "query": "//x", "dialect": "odd"}, "PQ0117"),
        ({"name": "n", "query": "//x", "within": "2 h"}, "PR0020"),
        ({"name": "n", "query": "//x", "language": "xquery", "dialect": "xsq"}, "PR0020"),
        ({"name": "n", "query": "//x", "language": "xquery", "untyped": "odd"}, "PQ0512"),
        ({"name": "n", "query": "//x["}, "PQ0104"),
        ({"name": "n", "query": "//p:x"}, "PQ0111"),
        ({"name": "n\ud800", "query": "//x"}, "PR0008"),
        ('{"name": "n", "query": ' + "[" * 5000, "PR0020"),
        ({"name": "good", "query": "//x"}, "PR0001"),
        ('{"name": "\udcff"}'.encode("utf-8", "surrogateescape").decode("latin-1"), "PR0020"),
    ]
    lines: list[object] = [{"name": "good", "query": "//x"}]
    for line, _ in bad:
        lines.append(line)
    lines.append({"name": "last", "query": "//x"})
    file = written(tmp_path / "lines.jsonl", lines)
    for registry in both(tmp_path):
        told: list[LineError] = []
        report = registry.load(file, on_error=told.append)
        codes = [(error.line, error.code) for error in sorted(told)]
        assert codes == [(number, code) for number, (_, code) in enumerate(bad, start=2)]
        assert sorted(report.errors) == sorted(told)
        assert report.failed == len(bad)
        assert [one.name for one in registry] == ["good", "last"]
        span = next(error for error in told if error.code == "PQ0111")
        assert span.span == (2, 5)
        assert span.text == "//p:x"
        assert str(span).startswith(f"line {span.line}: PQ0111")


def test_processes_give_the_rows_of_one_process_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load, "LINES_PER_CHUNK", 7)
    lines: list[object] = [{"name": f"s{n}", "query": f"//x[@y = {n}]"} for n in range(100)]
    lines[50] = {"name": "bad", "query": "//"}
    file = written(tmp_path / "lines.jsonl", lines)
    found = []
    for workers in (0, 1, 3):
        registry = Registry.open(tmp_path / str(workers))
        watched: list[int] = []
        report = registry.load(file, workers=workers, watch=lambda r, w=watched: w.append(r.added))  # type: ignore[misc]
        assert watched[-1] == report.added == 99
        assert [error.line for error in report.errors] == [51]
        found.append([(one.name, one.program) for one in registry])
    assert found[0] == found[1] == found[2]


def test_a_taken_name_is_replaced_on_request(tmp_path: Path) -> None:
    for registry in both(tmp_path):
        registry.add("a", "//old")
        registry.add("z", "//z")
        registry.snapshot()
        lines = [
            json.dumps({"name": name, "query": f"//{name}{number}"})
            for number, name in enumerate(["b", "a", "c", "b"])
        ]
        report = registry.load(lines, replace=True)
        assert (report.added, report.replaced, report.failed) == (2, 2, 0)
        assert {one.name: one.text for one in registry} == {
            "a": "//a1",
            "z": "//z",
            "b": "//b3",
            "c": "//c2",
        }
        rows = penstock.Engine(registry).run("<r><old/><z/><b0/><a1/><b3/><c2/></r>")
        assert sorted(str(row.subscription) for row in rows) == ["a", "b", "c", "z"]
    rows = penstock.Engine(Registry.open(tmp_path / "registry")).run("<r><old/><b0/><b3/></r>")
    assert [row.subscription for row in rows] == ["b"]


@pytest.mark.parametrize("replace", [False, True])
def test_names_are_found_after_a_load_of_mostly_taken_ones(tmp_path: Path, replace: bool) -> None:
    registry = Registry.open(tmp_path, flush=False)
    lines = [json.dumps({"name": f"n{n}", "query": "//x"}) for n in range(503)]
    registry.load(lines[:300], workers=0)
    for known, repeated in ((300, lines[:301]), (301, lines * 2)):
        report = registry.load(repeated, replace=replace, workers=0)
        assert report.added == len({*lines[:known], *repeated}) - known
    assert all(f"n{n}" in registry for n in range(503))
    assert len(registry) == 503
    registry.close()
    assert verify(tmp_path).findings == []


@pytest.mark.parametrize("count", [29, 30, 31, 62, 126])
def test_a_taken_name_at_the_end_of_a_load_leaves_the_others_to_be_found(
    tmp_path: Path, count: int
) -> None:
    registry = Registry.open(tmp_path, flush=False)
    lines = [json.dumps({"name": f"n{n}", "query": "//x"}) for n in range(count + 1)]
    registry.load(lines[:count], workers=0)
    assert registry.load([*lines[-1:], *lines[:1]], workers=0).added == 1
    assert all(f"n{n}" in registry for n in range(count + 1))
    registry.close()
    assert verify(tmp_path).findings == []


def test_a_load_beside_others_is_seen_by_a_running_engine(tmp_path: Path) -> None:
    for registry in both(tmp_path):
        registry.add("first", "//x")

        def documents(registry: Registry = registry) -> object:
            yield "<x/>"
            registry.load([json.dumps({"name": f"s{n}", "query": "//x"}) for n in range(100)])
            registry.remove("s7")
            yield "<x/>"

        found = [row.document for row in penstock.Engine(registry).run(documents())]  # type: ignore[arg-type]
        assert (found.count("0"), found.count("1")) == (1, 100)


def test_the_columns_of_csv_are_checked(tmp_path: Path) -> None:
    for first in ("name,text", "name", "name,query,name", ""):
        file = tmp_path / "lines.csv"
        file.write_text(first + "\na,//a\n")
        with pytest.raises(RegistryError) as caught:
            Registry().load(file)
        assert caught.value.code == "PR0020"


def test_a_cell_without_an_end_is_an_error_of_the_file(tmp_path: Path) -> None:
    file = tmp_path / "lines.csv"
    file.write_text('name,query\na,//a\nb,"//b\n' + "x" * 200_000)
    for registry in both(tmp_path):
        with pytest.raises(RegistryError, match="line 4"):
            registry.load(file)
        assert len(registry) == registry.version == 0


def test_errors_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "ERRORS_KEPT", 3)
    report: LoadReport = Registry().load(["{"] * 10)
    assert (report.failed, len(report.errors)) == (10, 3)


LOADER = """
import sys, penstock
registry = penstock.Registry.open(sys.argv[1])
registry.load(sys.argv[2], watch=lambda report: print(report.added, flush=True))
"""


def test_a_killed_load_leaves_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    lines: list[object] = [{"name": f"s{n}", "query": f"//x[@y = {n}]"} for n in range(12_000)]
    file = written(tmp_path / "lines.jsonl", lines)
    Registry.open(tmp_path / "r").add("first", "//x")
    loader = subprocess.Popen(
        [sys.executable, "-c", LOADER, str(tmp_path / "r"), str(file)],
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert loader.stdout is not None
    assert loader.stdout.readline()
    os.killpg(loader.pid, signal.SIGKILL)
    loader.wait()
    loader.stdout.close()
    registry = Registry.open(tmp_path / "r")
    assert [one.name for one in registry] == ["first"]
    assert registry.load(file).added == 12_000
    assert len(registry) == 12_001
