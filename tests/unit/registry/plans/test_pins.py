"""Pins: the first who asks fixes the version of a batch, on whatever host it runs."""

import os
import pickle
import shutil
from pathlib import Path

import pytest

from penstock import Registry
from penstock.errors import RegistryError
from penstock.registry.durable import PLANS_KEPT
from penstock.registry.plans import files
from penstock.registry.plans.pins import CURRENT, PINS_KEPT, Pins
from penstock.registry.plans.published import PublishedPlans
from penstock.registry.plans.tiers import attach_tiers
from penstock.registry.storage.folder import DATABASE, PLANS
from penstock.registry.storage.repair import repair
from penstock.registry.storage.table import plan_name


def names_in(file: Path) -> tuple[str, ...]:
    """Return the names of the subscriptions in a list of tiers, without those removed."""
    tiers = PublishedPlans(file.parent.parent).read(file.name)
    names, _ = attach_tiers(tiers)
    gone = {
        sum(len(before.serials) for before in tiers[:place]) + number
        for place, tier in enumerate(tiers)
        for number in tier.removed_places
    }
    return tuple(name for number, name in enumerate(names) if number not in gone)


def test_a_pin_keeps_the_version_of_a_batch_whoever_asks_and_when(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    registry.add("a", "//a")
    assert registry.pin("query", 0) == 1
    registry.add("b", "//b")
    assert registry.pin("query", 0) == 1
    assert registry.pin("query", 1) == 2
    assert registry.pin("other/../one", 0) == 2
    assert pickle.loads(pickle.dumps(registry)).pin("query", 0) == 1
    assert registry.pins("query") == {0: 1, 1: 2}
    assert registry.pin("query", 5 + PINS_KEPT) == 2
    assert registry.pins("query") == {5 + PINS_KEPT: 2}
    assert registry.pins("other/../one") == {0: 2}


def test_workers_need_no_database(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path / "registry")
    registry.add("a", "//a")
    registry.follow()
    registry.close()
    shared = tmp_path / "shared"
    ignored = shutil.ignore_patterns(f"{DATABASE}*")
    shutil.copytree(tmp_path / "registry", shared, ignore=ignored)
    name = Pins(shared).pin("query", 0)
    assert name.version == 1
    assert names_in(shared / PLANS / plan_name(name)) == ("a",)


def test_a_change_that_returned_is_what_the_next_batch_gets(tmp_path: Path) -> None:
    registry, pins = Registry.open(tmp_path), Pins(tmp_path)
    registry.follow()
    assert pins.pin("query", 0).version == 0
    registry.add("a", "//a")
    assert pins.pin("query", 1).version == 1
    with registry.changes():
        registry.add("b", "//b")
        assert pins.pin("query", 2).version == 1
        registry.remove("a")
    assert pins.pin("query", 3).version == 3
    registry.replace("b", "//c")
    for batch, names in ((0, ()), (1, ("a",)), (3, ("b",)), (4, ("b",))):
        file = tmp_path / PLANS / plan_name(pins.pin("query", batch))
        assert names_in(file) == names


def test_a_change_that_is_undone_is_never_published(tmp_path: Path) -> None:
    registry, pins = Registry.open(tmp_path), Pins(tmp_path)
    registry.follow()

    def fail() -> None:
        with registry.changes():
            registry.add("a", "//a")
            registry.publish()
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert pins.pin("query", 0).version == 0


def test_nothing_is_pinned_before_something_is_published(tmp_path: Path) -> None:
    with pytest.raises(RegistryError) as caught:
        Pins(tmp_path).pin("query", 0)
    assert caught.value.code == "PR0009"


def test_plans_of_batches_under_way_stay_and_those_of_the_last_ones_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    registry, pins = Registry.open(tmp_path), Pins(tmp_path)
    registry.follow()
    registry.add("a", "//a")
    file = tmp_path / PLANS / plan_name(pins.pin("query", 7))
    for number in range(PLANS_KEPT + 2):
        registry.add(f"s{number}", "//b")
    assert names_in(file) == ("a",)
    # Long after, when nobody can be at it any more, it goes; the next start brings it back.
    os.utime(tmp_path / "pins" / "query", (0, 0))
    registry.add("last", "//b")
    assert not file.exists()
    Registry.open(tmp_path).follow()
    assert names_in(file) == ("a",)


def test_a_registry_put_back_from_a_copy_never_shows_an_old_plan_for_a_new_version(
    tmp_path: Path,
) -> None:
    registry = Registry.open(tmp_path / "r")
    registry.follow()
    registry.close()
    copy = (tmp_path / "r" / DATABASE).read_bytes()
    registry.add("lost", "//a")
    lost = Pins(tmp_path / "r").pin("query", 0)
    registry.close()
    for file in (tmp_path / "r").glob(f"{DATABASE}*"):
        file.unlink()
    (tmp_path / "r" / DATABASE).write_bytes(copy)
    with pytest.raises(RegistryError, match="older copy") as caught:
        Registry.open(tmp_path / "r")
    assert caught.value.code == "PR0031"
    assert repair(tmp_path / "r").losses.versions == [1]
    again = Registry.open(tmp_path / "r")
    assert again.version == lost.version == 1
    assert list(again.snapshot_at(1).names) == []
    again.add("new", "//b")
    again.follow()
    found = Pins(tmp_path / "r").pin("query", 1)
    assert names_in(tmp_path / "r" / PLANS / plan_name(found)) == ("new",)
    assert again.snapshot().names == ("new",)


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    registry = Registry.open(tmp_path)
    (tmp_path / "pins").write_text("in the way")
    with pytest.raises(RegistryError, match="cannot be written") as caught:
        registry.follow()
    assert caught.value.code == "PR0005"


@pytest.mark.parametrize("damage", [b"", b"1", b"one two", b"\xff\xfe 1", b"1 a b"])
def test_a_damaged_current_version_is_published_again(tmp_path: Path, damage: bytes) -> None:
    registry, pins = Registry.open(tmp_path), Pins(tmp_path)
    registry.add("a", "//a")
    registry.follow()
    (tmp_path / CURRENT).write_bytes(damage)
    with pytest.raises(RegistryError) as caught:
        pins.pin("query", 0)
    assert caught.value.code == "PR0009"
    registry.follow()
    assert pins.pin("query", 0).version == 1
    (tmp_path / CURRENT).write_bytes(damage)
    registry.add("b", "//b")
    assert pins.pin("query", 1).version == 2


def test_a_damaged_pin_concerns_its_batch_alone(tmp_path: Path) -> None:
    registry, pins = Registry.open(tmp_path), Pins(tmp_path)
    registry.follow()
    for batch in range(3):
        pins.pin("query", batch)
    (tmp_path / "pins" / "query" / "2").write_bytes(b"")
    with pytest.raises(RegistryError, match="is damaged"):
        pins.pin("query", 2)
    registry.follow()
    assert pins.pin("query", 1).version == pins.pin("query", 3).version == 0
    assert sorted(registry.pins("query")) == [0, 1, 3]
