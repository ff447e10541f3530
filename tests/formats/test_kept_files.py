"""Files that earlier revisions wrote open with equal answers; those of later ones are refused."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

import penstock
from penstock import routing
from penstock.errors import DamageError, PenstockError, RegistryError, StateError
from penstock.registry.plans.files import read_plan
from penstock.registry.plans.published import read_list
from penstock.routing.headers import HeaderError
from tests.formats import samples
from tests.formats.kept import REVISIONS, answers_of, check, unpacked

PLAN_SUFFIXES = {".base", ".tier"}
QUERIES = {"many", "first"}
"""Those of the pipeline, as ``tests.formats.streams`` has them, which needs pyspark."""


@pytest.fixture(params=REVISIONS)
def revision(request: pytest.FixtureRequest) -> str:
    """Return a revision of which files are kept."""
    return str(request.param)


@pytest.fixture
def kept(revision: str, tmp_path: Path) -> Path:
    """Return a folder with the files of the revision."""
    return unpacked(revision, tmp_path / "kept")


def plans_of(kept: Path) -> list[Path]:
    found = [path for path in kept.rglob("*") if path.suffix in PLAN_SUFFIXES]
    assert {path.suffix for path in found} == PLAN_SUFFIXES
    return found


def change(path: Path, at: int, by: bytes) -> None:
    """Write other bytes into a file."""
    data = bytearray(path.read_bytes())
    data[at : at + len(by)] = by
    path.write_bytes(data)


def test_there_are_files_of_a_revision() -> None:
    assert REVISIONS


def test_a_registry_gives_its_answers(revision: str, kept: Path) -> None:
    def answer() -> Any:
        with closing(penstock.Registry.open(kept / "registry", create=False)) as registry:
            assert registry["titles"].delivery == {"to": "mail"}
            assert [one.name for one in registry.at(1)] == [one["name"] for one in samples.LINES]
            return samples.answers(registry)

    check(revision, "registry", answer, answers_of(kept)["registry"])


def test_a_registry_takes_changes_and_is_intact(kept: Path) -> None:
    with closing(penstock.Registry.open(kept / "registry", create=False)) as registry:
        before = len(registry)
        registry.add("new", "//new")
        registry.remove("pairs")
        registry.publish()
    with closing(penstock.Registry.open(kept / "registry", create=False)) as registry:
        assert (len(registry), "new" in registry, "pairs" in registry) == (before, True, False)
        assert registry.tiers_at(registry.version)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_exported_lines_give_their_answers(revision: str, kept: Path, form: str) -> None:
    def answer() -> Any:
        registry = penstock.Registry()
        report = registry.load(kept / f"lines.{form}")
        assert (report.added, list(report.errors)) == (len(samples.LINES), [])
        return samples.answers(registry)

    check(revision, "lines", answer, answers_of(kept)["lines"])


def test_plans_have_the_names_of_their_subscriptions(revision: str, kept: Path) -> None:
    def names() -> Any:
        return {name for path in plans_of(kept) for name in read_plan(path).names}

    lines = {one["name"] for one in samples.LINES}
    check(revision, "plans", names, lines | {"table", "within", *QUERIES})


def test_a_header_and_its_configuration_give_their_answers(revision: str, kept: Path) -> None:
    def answer() -> Any:
        config = routing.Configuration.from_json((kept / "views/configuration.json").read_text())
        assert config == samples.configuration()
        header = (kept / "views/header").read_bytes()
        assert routing.verify(header, samples.SHOP.encode(), config) == []
        return samples.decisions(config, header)

    check(revision, "views", answer, answers_of(kept)["views"])


def test_a_later_registry_is_refused(kept: Path) -> None:
    with closing(sqlite3.connect(kept / "registry/registry.sqlite")) as database:
        (form,) = database.execute("PRAGMA user_version").fetchone()
        database.execute(f"PRAGMA user_version = {form + 1}")
        database.commit()
    with pytest.raises(RegistryError, match="which exports lines for all versions") as caught:
        penstock.Registry.open(kept / "registry", create=False)
    assert caught.value.code == "PR0005"


def test_later_lines_are_refused_one_by_one(kept: Path) -> None:
    lines = (kept / "lines.jsonl").read_text().splitlines()
    lines[0] = json.dumps(json.loads(lines[0]) | {"later": 1})
    report = penstock.Registry().load(lines)
    assert report.added == len(lines) - 1
    assert [(one.line, one.code) for one in report.errors] == [(1, "PR0020")]
    assert "`later` is no field; there are " in report.errors[0].message


def test_later_plans_are_refused_and_made_anew(revision: str, kept: Path) -> None:
    for path in plans_of(kept):
        change(path, 8, (99).to_bytes(4, "little"))
        with pytest.raises(DamageError, match="it can be removed, and is built again") as caught:
            read_plan(path)
        assert caught.value.code == "PR0034"
    for path in kept.rglob("*.tiers"):
        path.write_bytes(path.read_bytes().replace(b"tiers 1", b"tiers 2", 1))
        with pytest.raises(DamageError, match="it can be removed, and is built again"):
            read_list(path)
    with closing(penstock.Registry.open(kept / "registry", create=False)) as registry:
        assert samples.answers(registry) == answers_of(kept)["registry"]
        registry.publish()


def test_a_later_configuration_is_refused(kept: Path) -> None:
    content = json.loads((kept / "views/configuration.json").read_text())
    content |= {"format": content["format"] + 1, "views": [{"of": "another kind"}]}
    with pytest.raises(PenstockError, match="make it of its views anew") as caught:
        routing.Configuration.from_json(json.dumps(content))
    assert caught.value.code == "PV0001"


def test_a_later_header_is_refused_and_its_document_parsed(kept: Path) -> None:
    header = bytearray((kept / "views/header").read_bytes()[:-4])
    header[2] += 1
    later = bytes(header) + crc32(header).to_bytes(4, "little")
    with pytest.raises(HeaderError, match="version"):
        routing.read(later)
    config = samples.configuration()
    wanted = answers_of(kept)["views"]
    found = samples.decisions(config, later)
    assert [one[:2] for one in found] == [one[:2] for one in wanted]
    assert not any(is_hit for _, _, is_hit in found)


def test_a_later_state_of_joins_is_refused(kept: Path) -> None:
    pytest.importorskip("pyspark")
    from penstock.spark import join_progress

    assert join_progress(kept / "joins/state").documents == len(samples_of_joins())
    (manifest,) = (kept / "joins/state/manifests").iterdir()
    rewrite(manifest, lambda entry: entry | {"format": entry["format"] + 1})
    with pytest.raises(StateError, match="begin a new stream with a new folder") as caught:
        join_progress(kept / "joins/state")
    assert caught.value.code == "PJ0005"


def test_a_later_list_of_suspensions_is_refused(kept: Path) -> None:
    pytest.importorskip("pyspark")
    from penstock.sinks.folders import LocalFolders
    from penstock.spark.pipelines.suspension import Standings

    checkpoint = kept / "pipeline/out/checkpoint"
    (folder,) = checkpoint.with_name("checkpoint-suspensions").iterdir()
    (file,) = folder.iterdir()
    rewrite(file, lambda entry: entry)
    standings = Standings(LocalFolders(), str(checkpoint), folder.name)
    assert set(standings.at(1).suspended) == {"many"}

    def later(entry: dict[str, Any]) -> dict[str, Any]:
        return entry | {"suspended": {"many": entry["suspended"]["many"] | {"later": 1}}}

    rewrite(file, later)
    with pytest.raises(StateError, match="remove it, and it suspends no subscription") as caught:
        Standings(LocalFolders(), str(checkpoint), folder.name)
    assert caught.value.code == "PL0020"


def test_files_move_with_their_folder(kept: Path, tmp_path: Path) -> None:
    from tests.formats import moving

    moving.put(kept / "pipeline", tmp_path / "here")
    offset = (tmp_path / "here/out/checkpoint/offsets/1").read_text()
    assert str(tmp_path / "here/inbox/b.xml") in offset
    assert "@" not in offset
    moving.keep(tmp_path / "here", tmp_path / "again")
    for path in (kept / "pipeline").rglob("*"):
        if path.is_file() and path.parent.parent.name != "checkpoint-suspensions":
            name = path.relative_to(kept / "pipeline")
            assert (tmp_path / "again" / name).read_bytes() == path.read_bytes(), name


def samples_of_joins() -> dict[str, str]:
    from tests.formats.streams import SOLD

    return SOLD


def rewrite(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change an entry that has a checksum behind it."""
    body = path.read_bytes().rstrip(b"\n").rsplit(b"\n", 1)[0]
    body = json.dumps(change(json.loads(body)), separators=(",", ":")).encode()
    path.write_bytes(body + f"\n{crc32(body)}\n".encode())
