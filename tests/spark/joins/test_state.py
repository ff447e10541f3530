"""The folder of a stream's joins: whole batches or none, no garbage, no guessing."""

from __future__ import annotations

import shutil
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.errors import StateError
from penstock.results import Document
from penstock.spark.joins import segments, worker
from penstock.spark.joins.state import State, read_checked, write_checked
from tests.spark.joins.helpers.cases import identities, registry_of
from tests.spark.joins.helpers.local import LocalJoins

SAME = "S//a->x[k->y] FOLLOWED BY{y = z, 10} S//b->w[k->z]"


def document(name: str, time: float, key: object = "1") -> Document:
    return Document(f"<{name}><k>{key}</k></{name}>".encode(), f"{name}{time:g}", "S", time)


def joins(folder: Path, **options: Any) -> LocalJoins:
    return LocalJoins(folder, registry_of({"q": SAME}), **options)


def files(folder: Path, name: str) -> set[str]:
    return {path.name for path in (folder / name).iterdir()}


def pairs(rows: list[Any]) -> list[tuple[str, ...]]:
    return sorted(tuple(row["documents"]) for row in rows)


def test_a_batch_can_be_computed_again_before_and_after_its_manifest(tmp_path: Path) -> None:
    stream = joins(tmp_path)
    stream.batch(0, [document("a", 1)])
    last = [document("b", 2), document("a", 3)]
    first = identities(stream.batch(1, last))
    again = identities(joins(tmp_path).batch(1, last))
    assert len(first) == 1
    assert again == first
    assert pairs(joins(tmp_path).batch(2, [document("b", 4)])) == [("a1", "b4"), ("a3", "b4")]


def test_a_batch_whose_writer_fails_leaves_the_state_as_it_was(tmp_path: Path) -> None:
    stream = joins(tmp_path)
    stream.batch(0, [document("a", 1)])
    before = State(tmp_path).last()

    class FullError(Exception):
        pass

    def fail(rows: object, number: int) -> None:
        raise FullError

    with pytest.raises(FullError):
        joins(tmp_path, into=fail).batch(1, [document("b", 2)])
    assert State(tmp_path).last() == before
    assert pairs(joins(tmp_path).batch(1, [document("b", 2)])) == [("a1", "b2")]


def test_what_no_manifest_names_is_removed(tmp_path: Path) -> None:
    stream = joins(tmp_path)
    for number in range(4):
        stream.batch(number, [document("a", number, number)])
        (tmp_path / "segments" / f"left behind {number}").write_bytes(b"garbage")
    state = State(tmp_path)
    assert state.batches() == [2, 3]
    stream.batch(4, [document("a", 4)])
    named = {
        segment.file
        for batch in state.batches()
        for own in state.read(batch).segments.values()
        for segment in own
    }
    assert files(tmp_path, "segments") == named
    assert files(tmp_path, "changes") == {"0.json", "3.json", "4.json"}
    assert not list((tmp_path / "work").iterdir())


def test_runs_alike_become_one(tmp_path: Path) -> None:
    stream = joins(tmp_path, buckets=1)
    for number in range(40):
        stream.batch(number, [document("a", number, number)])
    last = State(tmp_path).last()
    assert last is not None
    assert len(last.segments[0]) < segments.FAN
    assert sum(segment.records for segment in last.segments[0]) == 40
    assert pairs(stream.batch(40, [document("b", 39.5, 33)])) == [("a33", "b39.5")]


def test_a_damaged_manifest_is_told(tmp_path: Path) -> None:
    joins(tmp_path).batch(0, [document("a", 1)])
    manifest = tmp_path / "manifests" / "0.json"
    manifest.write_bytes(manifest.read_bytes().replace(b'"documents":1', b'"documents":2'))
    with pytest.raises(StateError, match=r"PJ0002: .*0\.json is damaged; restore") as caught:
        joins(tmp_path).batch(1, [document("b", 2)])
    assert caught.value.code == "PJ0002"


def test_a_missing_manifest_is_told(tmp_path: Path) -> None:
    with pytest.raises(StateError, match=r"PJ0002: .*6\.json cannot be read"):
        joins(tmp_path).batch(7, [document("a", 1)])


def test_a_new_stream_does_not_take_over_an_old_state(tmp_path: Path) -> None:
    for number in range(2):
        joins(tmp_path).batch(number, [document("a", number)])
    with pytest.raises(StateError, match=r"PJ0003: .*has come further"):
        joins(tmp_path).batch(0, [document("a", 1)])


def test_programs_of_another_version_are_not_read(tmp_path: Path) -> None:
    joins(tmp_path).batch(0, [document("a", 1)])
    path = tmp_path / "changes" / "0.json"
    entry = read_checked(path, "")
    for added in entry["added"]:
        added["program"] = b64encode(b"PSJ1" + b64decode(added["program"])[5:]).decode()
    write_checked(path, entry)
    worker._kept.clear()  # as in a process that was not there yet
    with pytest.raises(StateError, match="PJ0005"):
        joins(tmp_path).batch(1, [document("b", 2)])


def test_a_new_stream_in_an_emptied_folder_is_another_one(tmp_path: Path) -> None:
    joins(tmp_path).batch(0, [document("a", 1)])
    shutil.rmtree(tmp_path)
    other = LocalJoins(tmp_path, registry_of({"other": SAME.replace("S//a", "S//c")}))
    found = other.batch(0, [document("a", 1), document("c", 1), document("b", 2)])
    assert [(row["subscription"], row["documents"]) for row in found] == [("other", ["c1", "b2"])]


def test_a_changed_query_of_the_same_name_begins_anew(tmp_path: Path) -> None:
    joins(tmp_path).batch(0, [document("a", 1), document("c", 1)])
    other = registry_of({"q": SAME.replace("S//a", "S//c")})
    stream = LocalJoins(tmp_path, other)
    found = stream.batch(1, [document("b", 2), document("c", 3), document("b", 4)])
    assert pairs(found) == [("c3", "b4")]


def test_queries_without_text_are_joined_by_their_programs(tmp_path: Path) -> None:
    from dataclasses import replace

    registry = penstock.Registry()
    registry.add("q", replace(penstock.xscl(SAME), text=""))
    found = LocalJoins(tmp_path, registry).batch(0, [document("a", 1), document("b", 2)])
    assert pairs(found) == [("a1", "b2")]
