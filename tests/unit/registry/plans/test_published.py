"""Published plans: lists of tiers that versions share, whoever publishes, whatever is damaged."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from weakref import WeakValueDictionary

import pytest

import penstock
from penstock import Registry
from penstock.errors import DamageError, RegistryError
from penstock.kernel import Session
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans import files, live, published
from penstock.registry.plans.files import SUFFIX, PlanFile, read_plan, write_plan
from penstock.registry.plans.names import FlatNames
from penstock.registry.plans.pins import Pins
from penstock.registry.plans.published import read_list
from penstock.registry.storage.folder import PLANS, TIERS
from penstock.registry.storage.repair import repair
from penstock.registry.storage.table import plan_name
from penstock.registry.storage.verify import verify
from penstock.spark import tiers
from penstock.spark.tiers import load_version

DOCUMENT = "<r>" + "".join(f'<x y="{number}"/>' for number in range(400)) + "</r>"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a worker that has seen no tier yet."""
    monkeypatch.setattr(tiers, "_known", WeakValueDictionary())


def query(number: int) -> str:
    return f"//x[@y = {number % 400}]"


def filled(folder: Path, count: int = 200) -> DurableRegistry:
    """Return a registry that streams follow."""
    registry = Registry.open(folder)
    registry.load([f'{{"name": "s{n}", "query": "{query(n)}"}}' for n in range(count)], workers=0)
    registry.follow()
    return registry


def list_of(registry: DurableRegistry, version: int | None = None) -> Path:
    """Return the list of a version, by default of the current one."""
    return registry.plan_file(registry.version if version is None else version)


def tier_files(registry: DurableRegistry) -> list[str]:
    return [one.file for one in read_list(list_of(registry))]


def found_by(names: object, session: Session) -> list[tuple[str, str]]:
    """Return which subscriptions a session finds, and what."""
    session.read([(DOCUMENT.encode(), None, "default")])
    rows = session.take().rows()[0]
    return sorted((names[row[0]], row[4]) for row in rows)  # type: ignore[index]


def expected_of(registry: DurableRegistry, version: int) -> list[tuple[str, str]]:
    """Return the same of a registry in memory with the subscriptions of a version."""
    memory = Registry()
    for one in registry.at(version):
        memory.add(one.name, one.text, one.mode if one.mode != "running" else "query")
    snapshot = memory.snapshot()
    return found_by(snapshot.names, Session(snapshot.plan))


def settled(registry: DurableRegistry) -> None:
    """Let merges end."""
    registry._current.live(registry.version).wait()


def test_a_change_writes_a_small_tier_and_a_list_and_nothing_else(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    (large,) = tier_files(registry)
    before = {path.name: path.stat().st_ino for path in (tmp_path / TIERS).iterdir()}
    registry.add("more", "//x")
    assert tier_files(registry)[0] == large
    registry.remove("s7")
    (first, second) = read_list(list_of(registry))
    assert (first.file, list(first.removed)) == (large, [7])
    written = {path.name for path in (tmp_path / TIERS).iterdir()} - before.keys()
    assert written == {second.file}
    assert (tmp_path / TIERS / large).stat().st_ino == before[large]
    assert len(read_plan(tmp_path / TIERS / second.file).names) == 1


@pytest.mark.parametrize("seed", range(3))
def test_every_pinned_version_is_that_of_the_table_whoever_changed_it(
    tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SMALL_MAX", 3)
    monkeypatch.setattr(published, "REMOVED_MAX", 2)
    monkeypatch.setattr(tiers, "COPIED_BYTES_MIN", 2_000)
    random = Random(seed)
    handles = [filled(tmp_path / "r", 40), Registry.open(tmp_path / "r")]
    host = tmp_path / "host"
    host.mkdir()
    session, names = None, None
    for batch in range(30):
        registry = random.choice(handles)
        for _ in range(random.choice((0, 1, 1, 2, 9))):
            name = f"s{random.randrange(60)}"
            if name not in registry:
                registry.add(name, query(random.randrange(400)), random.choice(("query", "filter")))
            elif random.random() < 0.6:
                registry.remove(name)
            else:
                registry.replace(name, query(random.randrange(400)))
        if random.random() < 0.3:
            settled(random.choice(handles))
        pin = Pins(tmp_path / "r").pin("q", batch)
        assert pin.version == registry.version
        names, plan = load_version(tmp_path / "r", host, plan_name(pin))
        if session is None:
            session = Session(plan)
        session.adopt(plan)
        assert found_by(names, session) == expected_of(registry, pin.version)
    assert verify(tmp_path / "r").findings == []
    for batch in range(28, 30):
        pin = Pins(tmp_path / "r").pin("q", batch)
        names, plan = load_version(tmp_path / "r", host, plan_name(pin))
        assert found_by(names, Session(plan)) == expected_of(handles[0], pin.version)


def test_processes_go_on_with_the_tiers_that_another_one_published(tmp_path: Path) -> None:
    one, two = filled(tmp_path), Registry.open(tmp_path)
    (large,) = tier_files(one)
    for number in range(6):
        (one, two)[number % 2].add(f"more{number}", "//x")
        assert tier_files(one)[0] == large
        assert len(tier_files(one)) == 2


def test_a_merge_is_kept_though_another_process_published_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live.LivePlan, "merge_in_background", lambda *_: None)
    one, two = filled(tmp_path), Registry.open(tmp_path)
    with one.changes():
        for number in range(live.SMALL_MAX + 1):
            one.add(f"more{number}", "//x")
    first, second = tier_files(one)
    two.add("two", "//x")
    assert tier_files(two)[:2] == [first, second]
    plan = one._current.live(one.version)
    plan.merge(0, 2)
    two.remove("s3")  # from a tier that was merged elsewhere
    two.add("three", "//x")
    one.add("four", "//x")
    merged = tier_files(one)
    assert first not in merged
    assert second not in merged
    two.remove("s4")
    assert tier_files(two)[0] == merged[0]
    assert list(read_list(list_of(two))[0].removed) == [3, 4]


def test_many_removed_subscriptions_stand_in_a_file_that_changes_share(tmp_path: Path) -> None:
    registry = filled(tmp_path, 4 * published.REMOVED_MAX)
    with registry.changes():
        for number in range(published.REMOVED_MAX + 1):
            registry.remove(f"s{number}")
    (tier,) = read_list(list_of(registry))
    assert tier.removals is not None
    assert not tier.removed
    registry.remove("s2000")
    (later,) = read_list(list_of(registry))
    assert (later.removals, list(later.removed)) == (tier.removals, [2000])
    names, plan = load_version(tmp_path, tmp_path, list_of(registry).name)
    held = {f"s{n}" for n in range(400) if n > published.REMOVED_MAX} | {"s2001"}
    found = {name for name, _ in found_by(names, Session(plan))}
    assert "s2000" not in found
    assert "s2001" in found
    assert not found & {f"s{number}" for number in range(published.REMOVED_MAX + 1)}
    assert held <= found
    again = Registry.open(tmp_path)
    again.remove("s2002")
    (latest,) = read_list(list_of(again))
    assert (latest.removals, list(latest.removed)) == (tier.removals, [2000, 2002])


def test_tiers_go_with_the_last_list_that_needs_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    registry = filled(tmp_path)
    registry.add("pinned", "//x")
    pin = Pins(tmp_path).pin("q", 0)
    pinned = tier_files(registry)
    for number in range(60):
        registry.add(f"more{number}", "//x")
    there = {path.name for path in (tmp_path / TIERS).iterdir()}
    lists = list((tmp_path / PLANS).iterdir())
    needed = {file for path in lists for one in read_list(path) for file in one.files}
    assert set(pinned) <= there == needed
    assert len(lists) == 9
    assert (tmp_path / PLANS / plan_name(pin)) in lists
    os.utime(tmp_path / "pins" / "q", (0, 0))
    registry.add("last", "//x")
    assert pinned[1] not in {path.name for path in (tmp_path / TIERS).iterdir()}
    assert pinned[0] in {path.name for path in (tmp_path / TIERS).iterdir()}


@pytest.mark.parametrize("kind", ["list", "tier", "removed"])
@pytest.mark.parametrize("damage", ["missing", "flipped", "empty", "cut"])
def test_damage_is_found_named_and_put_right(
    tmp_path: Path, kind: str, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published, "REMOVED_MAX", 2)
    registry = filled(tmp_path)
    with registry.changes():
        for number in range(3):
            registry.remove(f"s{number}")
    whole = list_of(registry)
    (tier,) = read_list(whole)
    assert tier.removals is not None
    place = {"list": whole, "tier": tmp_path / TIERS / tier.file}
    file = place.get(kind, tmp_path / TIERS / tier.removals)
    content = file.read_bytes()

    def harm() -> None:
        file.unlink(missing_ok=True)
        if damage != "missing":
            middle = len(content) // 2
            flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
            file.write_bytes({"flipped": flipped, "empty": b"", "cut": content[:-3]}[damage])

    harm()
    with pytest.raises(RegistryError, match="starting the stream anew") as caught:
        load_version(tmp_path, tmp_path, whole.name)
    assert caught.value.code == "PR0009"
    found = [one.file for one in verify(tmp_path).findings]
    assert (kind == "list" and damage == "missing") or str(whole.relative_to(tmp_path)) in found
    assert len(registry.at(registry.version).snapshot().names) in (197, 200)
    harm()
    registry.follow()
    assert verify(tmp_path).findings == []
    version = registry.version
    names, plan = load_version(tmp_path, tmp_path, whole.name)
    assert found_by(names, Session(plan)) == expected_of(registry, version)
    harm()
    registry.add("next", "//x")
    names, plan = load_version(tmp_path, tmp_path, list_of(registry).name)
    assert found_by(names, Session(plan)) == expected_of(registry, version + 1)
    registry.close()
    repair(tmp_path)
    assert verify(tmp_path).findings == []
    again = Registry.open(tmp_path)
    assert {one.name for one in again} == {f"s{n}" for n in range(3, 200)} | {"next"}


def test_a_file_under_the_name_of_another_is_damage(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    registry.add("more", "//x")
    one, two = (tmp_path / TIERS / file for file in tier_files(registry))
    one.write_bytes(two.read_bytes())
    with pytest.raises(DamageError):
        published.read_tier(one)
    before, now = list_of(registry, 1), list_of(registry)
    before.write_bytes(now.read_bytes())
    with pytest.raises(DamageError):
        read_list(before)


class Cut(BaseException):
    """Stands for a kill: nothing catches it."""


def test_a_change_that_is_cut_short_anywhere_leaves_no_list_without_its_tiers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = published.whole_file
    steps = 0

    def cutting(limit: int) -> Callable[[Path], Iterator[object]]:
        left = [limit]

        @contextmanager
        def cut(path: Path) -> Iterator[object]:
            left[0] -= 1
            if left[0] < 0:
                raise Cut
            with whole(path) as file:
                yield file

        return cut  # type: ignore[return-value]

    while True:
        folder = tmp_path / str(steps)
        registry = filled(folder, 20)
        cut = cutting(steps)
        with monkeypatch.context() as patch:
            for place in ("published.whole_file", "pins.whole_file"):
                patch.setattr(f"penstock.registry.plans.{place}", cut)
            try:
                registry.add("more", "//x")
            except Cut:
                is_whole = False
            else:
                is_whole = True
        assert verify(folder).findings == [] or not is_whole
        pin = Pins(folder).pin("q", 0)
        names, plan = load_version(folder, tmp_path, plan_name(pin))
        assert found_by(names, Session(plan)) == expected_of(registry, pin.version)
        registry.close()
        again = Registry.open(folder)
        again.follow()
        assert Pins(folder).pin("q", 1).version == again.version == 2
        assert verify(folder).findings == []
        if is_whole:
            break
        steps += 1
    assert steps == 3  # the tier, the list, `current`


WRITER = """
import sys, penstock
from penstock.registry.plans import live
live.SMALL_MAX = 4
registry = penstock.Registry.open(sys.argv[1])
registry.follow()
for number in range(registry.version, 10 ** 9):
    name = f"k{number // 2}"
    registry.remove(name) if name in registry else registry.add(name, f"//x[@y = {number % 400}]")
    print(registry.version, flush=True)
"""


def test_a_killed_process_leaves_versions_that_workers_can_read(tmp_path: Path) -> None:
    filled(tmp_path, 30).close()
    random = Random(3)
    for batch in range(4):
        command = [sys.executable, "-c", WRITER, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            for _ in range(random.randint(2, 60)):
                told = int(writer.stdout.readline())
            writer.send_signal(signal.SIGKILL)
            told = max([told, *map(int, writer.stdout.read().split())])
            assert writer.wait() == -signal.SIGKILL, "it was in the middle of its work"
        pin = Pins(tmp_path).pin("q", batch)
        registry = Registry.open(tmp_path)
        # What was said to be done is published; at most the change under way is not.
        assert told <= pin.version <= registry.version <= told + 1
        names, plan = load_version(tmp_path, tmp_path, plan_name(pin))
        assert found_by(names, Session(plan)) == expected_of(registry, pin.version)
        registry.close()


def test_a_folder_of_an_earlier_release_is_read_and_brought_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    registry = filled(tmp_path, 50)
    pins = {batch: Pins(tmp_path).pin("q", batch) for batch in range(2)}
    registry.add("more", "//x")
    pins[2] = Pins(tmp_path).pin("q", 2)
    expected = {batch: expected_of(registry, pin.version) for batch, pin in pins.items()}
    snapshots = {pin: registry.at(pin.version).compact() for pin in pins.values()}
    registry.close()
    for path in [*(tmp_path / TIERS).iterdir(), *(tmp_path / PLANS).iterdir()]:
        path.unlink()
    (tmp_path / TIERS).rmdir()
    # It wrote one plan for each version.
    for pin, snapshot in snapshots.items():
        content = PlanFile((), FlatNames.of(snapshot.names), snapshot.plan)
        write_plan(tmp_path / PLANS / plan_name(pin, SUFFIX), content)
    assert verify(tmp_path).findings == []
    again = Registry.open(tmp_path)
    again.follow()
    assert not list((tmp_path / PLANS).glob(f"*{SUFFIX}"))
    for batch, pin in pins.items():
        assert Pins(tmp_path).pin("q", batch) == pin
        names, plan = load_version(tmp_path, tmp_path, plan_name(pin))
        assert found_by(names, Session(plan)) == expected[batch]
    again.remove("more")
    assert {one.name for one in again} == {f"s{number}" for number in range(50)}
    assert Pins(tmp_path).pin("q", 3).version == again.version


def test_a_view_of_a_past_version_has_one_plan_for_those_who_ship_it(tmp_path: Path) -> None:
    registry = filled(tmp_path)
    registry.add("more", "//x")
    registry.remove("s0")
    view = registry.at(registry.version)
    snapshot = view.compact()
    assert snapshot.plan.image()
    assert set(snapshot.names) == {one.name for one in registry}
    assert [tier.size for tier in view.tiers()] == [199, 1]
    found = sorted(str(row.subscription) for row in penstock.Engine(view).run(DOCUMENT))
    assert found == [name for name, _ in expected_of(registry, registry.version)]


def test_a_load_is_published_as_the_tier_that_it_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live.LivePlan, "merge_in_background", lambda *_: None)
    registry = filled(tmp_path)
    (large,) = tier_files(registry)
    plan = registry._current.live(registry.version)
    lines = [f'{{"name": "more{n}", "query": "{query(n)}"}}' for n in range(300)]
    lines.append('{"name": "s5", "query": "//x[@y = 399]"}')
    registry.load(lines, workers=0, replace=True)
    assert registry._current.live(registry.version) is plan
    first, second = read_list(list_of(registry))
    assert (first.file, list(first.removed)) == (large, [5])
    names, loaded = load_version(tmp_path, tmp_path, list_of(registry).name)
    assert found_by(names, Session(loaded)) == expected_of(registry, registry.version)
    assert len(read_plan(tmp_path / TIERS / second.file).names) == 301


CHANGER = """
import sys, penstock
from penstock.registry.plans import live
live.SMALL_MAX = 4
registry, own = penstock.Registry.open(sys.argv[1]), sys.argv[2]
for number in range(60):
    if number % 4 == 3:
        registry.remove(f"{own}{number - 2}")
    elif number % 8 == 4:
        registry.replace("s3", f"//x[@y = {number}]")
    else:
        registry.add(f"{own}{number}", f"//x[@y = {number * 7 % 400}]")
    registry.snapshot()
print(registry.version)
"""


def test_processes_that_change_at_once_publish_what_the_table_has(tmp_path: Path) -> None:
    registry = filled(tmp_path / "r", 60)
    host = tmp_path / "host"
    host.mkdir()
    commands = [[sys.executable, "-c", CHANGER, str(tmp_path / "r"), own] for own in "abc"]
    changers = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands
    ]
    seen = set()
    batch = 0
    while True:
        is_last = all(changer.poll() is not None for changer in changers)
        pin = Pins(tmp_path / "r").pin("q", batch)
        if pin.version not in seen:
            names, plan = load_version(tmp_path / "r", host, plan_name(pin))
            assert found_by(names, Session(plan)) == expected_of(registry, pin.version)
            seen.add(pin.version)
        batch += 1
        if is_last:
            break
    for changer in changers:
        assert changer.returncode == 0
        assert changer.stdout is not None
        changer.stdout.close()
    assert registry.version == 1 + 3 * 60 == max(seen)
    assert len(seen) > 3
    assert verify(tmp_path / "r").findings == []
    assert max(len(read_list(path)) for path in (tmp_path / "r" / PLANS).iterdir()) < 12
