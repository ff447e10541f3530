"""Suspension in streams: what holds in a micro-batch was decided before it began, for good."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.errors import RegistryError, StateError
from penstock.results.columns import Fault
from penstock.sinks.folders import LocalFolders
from penstock.spark.pipelines.suspension import (
    STANDINGS_KEPT,
    Failing,
    Standing,
    Standings,
    Strike,
    identities_of,
)

FAULT = Fault("PL0014", "took too many steps", 7, 1, "/r")
IDS = {"a": "1", "b": "2"}


def failing(documents: int) -> Failing:
    return Failing(documents, "d1", "books", FAULT)


def after(standing: Standing, batch: int, **counts: int) -> Standing:
    found = {name: failing(count) for name, count in counts.items()}
    return standing.after(batch, found, IDS, 3)


def test_documents_are_counted_over_micro_batches_in_a_row() -> None:
    first = after(Standing(), 0, a=1, b=2)
    assert (dict(first.strikes), first.suspended) == (
        {"a": Strike("1", 1), "b": Strike("2", 2)},
        {},
    )
    second = after(first, 1, a=1)
    assert dict(second.strikes) == {"a": Strike("1", 2)}
    third = after(second, 2, a=1, b=1)
    assert (list(third.suspended), dict(third.strikes)) == (["a"], {"b": Strike("2", 1)})
    suspended = third.suspended["a"]
    assert (suspended.since, suspended.fault.code, suspended.stream) == (3, "PL0018", "books")
    assert "3 documents, `d1` among them: took too many steps" in suspended.fault.reason
    assert after(third, 3).suspended == third.suspended


def test_many_documents_of_one_micro_batch_are_enough() -> None:
    assert list(after(Standing(), 0, a=3).suspended) == ["a"]
    assert not after(Standing(), 0, a=2).suspended


def test_a_subscription_that_was_replaced_begins_anew() -> None:
    standing = after(after(Standing(), 0, a=5, b=2), 1, b=1)
    assert sorted(standing.suspended) == ["a", "b"]
    replaced = {"a": "other", "b": "2"}
    assert list(standing.known(replaced).suspended) == ["b"]
    found = standing.after(2, {"a": failing(2)}, replaced, 3)
    assert (list(found.suspended), dict(found.strikes)) == (["b"], {"a": Strike("other", 2)})
    assert standing.known({}).names == set()


def test_what_was_decided_stays(tmp_path: Path) -> None:
    place = (LocalFolders(), str(tmp_path / "checkpoint"), "query")
    standings, standing = Standings(*place), after(Standing(), 4, a=3)
    assert standings.at(4) == Standing()
    standings.settle(4, Standing())
    assert not (tmp_path / "checkpoint-suspensions").exists()
    standings.settle(4, standing)
    standings.settle(4, Standing())  # the batch came again, and differs
    for one in (standings, Standings(*place)):
        assert one.at(4) == Standing()
        assert one.at(5) == one.at(99) == standing
    assert Standings(*place[:2], "another").at(99) == Standing()


def test_old_decisions_go(tmp_path: Path) -> None:
    place = (LocalFolders(), str(tmp_path / "checkpoint"), "query")
    standings = Standings(*place)
    for batch in range(25):
        standings.settle(batch, Standing({"a": Strike("1", batch + 1)}))
    files = sorted(map(int, (one.name for one in tmp_path.glob("*-suspensions/query/*"))))
    assert files == list(range(26 - STANDINGS_KEPT, 26))
    assert Standings(*place).at(25).strikes["a"].documents == 25


@pytest.mark.parametrize("begun", [4, 5])
def test_a_subscription_is_resumed_in_the_next_micro_batch_that_has_not_begun(
    tmp_path: Path, begun: int
) -> None:
    place = (LocalFolders(), str(tmp_path / "checkpoint"), "query")
    Standings(*place).settle(4, after(Standing(), 4, a=3, b=3))
    offsets = tmp_path / "checkpoint" / "offsets"
    offsets.mkdir(parents=True)
    for batch in range(begun + 1):
        (offsets / str(batch)).touch()
    with pytest.raises(RegistryError, match="PR0012"):
        Standings(*place).resume(["a", "nobody"])
    Standings(*place).resume(["a"])
    names = [sorted(Standings(*place).at(batch).suspended) for batch in (4, 5, 6)]
    assert names == [[], ["b"] if begun == 4 else ["a", "b"], ["b"]]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    place = (LocalFolders(), str(tmp_path / "checkpoint"), "query")
    Standings(*place).settle(0, after(Standing(), 0, a=3))
    (file,) = tmp_path.glob("*-suspensions/query/1")
    file.write_bytes(file.read_bytes().replace(b'"since":1', b'"since":2'))
    with pytest.raises(StateError, match=r"PL0020.*query/1 is damaged"):
        Standings(*place)


def test_identities_are_those_of_the_version_of_the_micro_batch(tmp_path: Path) -> None:
    registry = penstock.Registry.open(tmp_path)
    registry.add("a", "//a")
    registry.add("b", "//b")
    registry.follow()
    names = {"a", "b", "c"}
    before = identities_of(registry, names, "query", 0)
    assert sorted(before) == ["a", "b"]
    registry.replace("a", "//x")
    registry.remove("b")
    assert identities_of(registry, names, "query", 0) == before
    now = identities_of(registry, names, "query", 1)
    assert list(now) == ["a"]
    assert now["a"] != before["a"]
    memory = penstock.Registry()
    memory.add("a", "//a")
    assert identities_of(memory, names, "query", 0) == {"a": before["a"]}
