"""Base files: mapped where they are sound, built again where they are not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import penstock
from penstock import Registry
from penstock.errors import RegistryError
from penstock.registry.plans import live
from penstock.registry.plans.bases import BASES_KEPT
from penstock.registry.plans.tiers import PlannedSubscription
from penstock.registry.storage import current
from penstock.registry.storage.head import HEAD
from tests.registry_files import move_versions, rewrite_rows

DOCUMENT = "<r>" + "".join(f'<x y="{number}"/>' for number in range(300)) + "</r>"


def bases(folder: Path) -> list[Path]:
    return sorted((folder / "bases").glob("*.base"), key=lambda path: path.stat().st_mtime_ns)


def filled(folder: Path, count: int = 5) -> Registry:
    registry = Registry.open(folder)
    with registry.changes():
        for number in range(count):
            registry.add(f"s{number}", f"//x[@y = {number}]")
    registry.snapshot()
    return registry


def found(registry: Registry) -> list[str | None]:
    return sorted(str(row.subscription) for row in penstock.Engine(registry).run(DOCUMENT))


def test_a_base_is_mapped_and_only_changes_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path)
    assert len(bases(tmp_path)) == 1
    registry.remove("s1")
    registry.add("late", "//x[@y = 7]")
    built = []
    monkeypatch.setattr(current, "build_tier", built.append)
    monkeypatch.setattr(live, "build_tier", lambda rows, build=live.build_tier: build(noted(rows)))
    added: list[str] = []

    def noted(rows: object) -> list[PlannedSubscription]:
        listed = list(rows)  # type: ignore[call-overload]
        added.extend(row.name for row in listed)
        return listed

    assert found(Registry.open(tmp_path)) == ["late", "s0", "s2", "s3", "s4"]
    assert built == []
    assert added == ["late"]


@pytest.mark.parametrize("damage", ["missing", "cut", "empty", "flipped", "other", "longer"])
def test_a_damaged_base_is_built_again(tmp_path: Path, damage: str) -> None:
    expected = found(filled(tmp_path))
    (file,) = bases(tmp_path)
    whole = file.read_bytes()
    # Whoever has the file mapped keeps it; what is damaged is another one in its place.
    file.unlink()
    match damage:
        case "missing":
            pass
        case "flipped":
            file.write_bytes(whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:])
        case "other":
            file.write_bytes(b"SOMETHING" + whole[9:])
        case "longer":
            file.write_bytes(whole + b"\0")
        case _:
            file.write_bytes(whole[: len(whole) // 2 if damage == "cut" else 0])
    assert found(Registry.open(tmp_path)) == expected
    assert file.read_bytes() == whole


@pytest.mark.parametrize("stale", ["another past", "another compiler"])
def test_a_base_of_another_past_or_compiler_is_not_used(
    tmp_path: Path, stale: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path)
    expected = found(registry)
    registry.close()
    if stale == "another past":
        move_versions(tmp_path, 1.0)
        (tmp_path / HEAD).unlink()
    else:
        rewrite_rows(tmp_path, compiler="old")
        monkeypatch.setattr("penstock.registry.storage.table.compiler_name", lambda: "new")
    (before,) = bases(tmp_path)
    assert found(Registry.open(tmp_path)) == expected
    assert bases(tmp_path)[-1] != before


def test_old_bases_go_away(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    leftover = tmp_path / "bases" / ".broken.tmp"
    leftover.write_bytes(b"x")
    os.utime(leftover, (0, 0))
    for number in range(BASES_KEPT + 2):
        registry.add(f"more{number}", "//x[@y = 9]")
        registry.compact()
    assert len(bases(tmp_path)) == BASES_KEPT
    assert not leftover.exists()
    assert found(Registry.open(tmp_path)) == found(registry)


def test_a_base_that_was_merged_lacks_nothing_that_came_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SMALL_MAX", 2)
    monkeypatch.setattr(live, "RATIO", 100)
    registry = filled(tmp_path)
    for number in range(20, 60):
        registry.add(f"t{number}", f"//x[@y = {number}]")
        if number % 3 == 0:
            registry.remove(f"t{number - 1}")
        registry.snapshot()
    plan = registry._current._live  # type: ignore[attr-defined]
    plan.wait()
    assert len(bases(tmp_path)) == BASES_KEPT
    assert found(Registry.open(tmp_path)) == sorted(one.name for one in registry)
    registry.remove("s0")
    assert "s0" not in found(Registry.open(tmp_path))


def test_a_folder_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "bases").write_text("in the way")
    assert len(found(filled(tmp_path))) == 5


ADDER = """
import sys, penstock
registry = penstock.Registry.open(sys.argv[1])
for number in range(100):
    registry.add(f"p{number}", f"//x[@y = {100 + number}]")
    registry.snapshot()
"""


def test_processes_that_change_together_agree(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    adder = subprocess.Popen([sys.executable, "-c", ADDER, str(tmp_path)])
    seen = [found(registry)]
    while adder.poll() is None:
        seen.append(found(registry))
    assert adder.wait() == 0
    seen.append(found(registry))
    assert [len(one) for one in seen] == sorted(len(one) for one in seen)
    assert seen[-1] == sorted(one.name for one in registry)


def test_what_is_compact_is_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path)
    registry.remove("s0")
    plan = registry.compact().plan
    assert plan.image()
    monkeypatch.setattr(live, "build_tier", None)
    assert registry.compact().plan is plan
    for one in (registry, Registry.open(tmp_path)):
        assert list(one.compact().names) == ["s1", "s2", "s3", "s4"]


def test_an_undone_change_leaves_no_trace_in_the_plan(tmp_path: Path) -> None:
    registry = filled(tmp_path)

    def look_and_fail() -> None:
        with registry.changes():
            registry.add("undone", "//x[@y = 8]")
            assert "undone" in registry.compact().names
            assert "undone" in registry.snapshot().names
            with pytest.raises(RegistryError):
                registry.branch()
            raise KeyError

    with pytest.raises(KeyError):
        look_and_fail()
    registry.add("done", "//x[@y = 9]")
    assert found(registry) == found(Registry.open(tmp_path)) == sorted(x.name for x in registry)
