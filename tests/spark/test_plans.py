"""Plans in files: found by content, mapped in place, put back when damaged or missing."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import penstock
from penstock.errors import RegistryError
from penstock.kernel import Session
from penstock.registry.plans.files import SUFFIX
from penstock.registry.plans.pins import Pins
from penstock.registry.storage.table import plan_name
from penstock.spark import tiers
from penstock.spark.plans import PinnedPlan, ShippedPlan, host_folder, ship

BATCH = cast("Any", SimpleNamespace(isStreaming=False))


@pytest.fixture(autouse=True)
def host(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a host that has seen no plan yet."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def registry_of(*words: str) -> penstock.Registry:
    registry = penstock.Registry()
    for word in words:
        registry.add(word, f"//{word}")
    return registry


def ship_small(registry: penstock.Registry) -> ShippedPlan:
    reference = ship(registry, BATCH)
    assert isinstance(reference, ShippedPlan)
    return reference


def found_by(reference: ShippedPlan, document: bytes) -> list[str]:
    names, plan = reference.load(reference.key())
    session = Session(plan)
    session.read([(document, None, "default")])
    return [names[row[0]] for row in session.take().rows()[0]]


def test_equal_registries_ship_one_plan() -> None:
    first, second = ship_small(registry_of("a", "b")), ship_small(registry_of("a", "b"))
    assert first == second
    assert ship_small(registry_of("b", "a")).name != first.name
    assert len(list(host_folder().iterdir())) == 2


@pytest.mark.parametrize("damage", [None, b"", b"shorter", "flip"])
def test_missing_or_damaged_file_is_put_back(damage: bytes | str | None) -> None:
    reference = ship_small(registry_of("a", "b"))
    path = host_folder() / reference.name
    whole = path.read_bytes()
    path.unlink()
    if damage == "flip":
        path.write_bytes(whole[:200] + bytes([whole[200] ^ 1]) + whole[201:])
    elif isinstance(damage, bytes):
        path.write_bytes(damage)
    assert found_by(reference, b"<x><b/><a/></x>") == ["b", "a"]
    assert path.read_bytes() == whole


@pytest.mark.skipif(sys.platform != "linux", reason="reads the maps of a Linux process")
def test_plan_is_used_where_it_is_mapped() -> None:
    reference = ship_small(registry_of("a"))
    loaded = reference.load(reference.key())
    maps = Path("/proc/self/maps").read_text("utf-8")
    assert reference.name in maps
    del loaded


def test_plan_that_did_not_arrive_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyspark")
    reference = replace(ship_small(registry_of("a")), name="0" * 32 + SUFFIX, data=None)
    monkeypatch.setattr("pyspark.SparkFiles.get", lambda name: f"nowhere/{name}")
    with pytest.raises(FileNotFoundError):
        reference.load(reference.key())


def test_folder_that_others_can_write_is_refused(host: Path) -> None:
    folder = host_folder()
    folder.chmod(0o777)
    with pytest.raises(PermissionError, match="remove it"):
        host_folder()
    folder.rmdir()
    folder.symlink_to(host)
    with pytest.raises(PermissionError):
        host_folder()


def test_plans_that_nobody_loads_leave_the_folder() -> None:
    old, new = ship_small(registry_of("a")), ship_small(registry_of("b"))
    long_ago = time.time() - tiers.UNUSED_SECONDS_MAX - 60
    for reference in (old, new):
        os.utime(host_folder() / reference.name, (long_ago, long_ago))
    found_by(new, b"<b/>")
    ship_small(registry_of("c"))
    assert not (host_folder() / old.name).exists()
    assert (host_folder() / new.name).exists()


ROUNDS = 60
SECONDS_MAX = 600.0


def work(registry: Path, host: Path, barrier: Any, replies: Any) -> None:
    """Be a worker on a host that shares only the registry's folder, and has no database."""
    tempfile.tempdir = str(host)
    sqlite3.connect = None  # type: ignore[assignment]
    tiers.COPIED_BYTES_MIN = 0 if host.name == "one" else 1 << 20
    reference = PinnedPlan(str(registry))
    found = []
    for batch in range(ROUNDS):
        barrier.wait(SECONDS_MAX)
        name = Pins(registry).pin("query", batch)
        names, _ = reference.load(plan_name(name))
        found.append((name.version, list(names)))
        barrier.wait(SECONDS_MAX)
    replies.put(found)


def test_workers_of_two_hosts_agree_on_every_batch_while_the_registry_changes(
    tmp_path: Path,
) -> None:
    registry = penstock.Registry.open(tmp_path / "registry")
    registry.follow()
    context = multiprocessing.get_context("spawn")
    hosts = [tmp_path / name for name in ("one", "two")]
    barrier, replies = context.Barrier(3), context.Queue()
    for host in hosts:
        host.mkdir()
    workers = [
        context.Process(target=work, args=(registry.path, host, barrier, replies), daemon=True)
        for host in hosts
    ]
    for worker in workers:
        worker.start()
    bounds = []
    for batch in range(ROUNDS):
        registry.add(f"before {batch}", "//a")
        before = registry.version
        barrier.wait(SECONDS_MAX)
        if batch % 2:
            registry.add(f"meanwhile {batch}", "//a")
        bounds.append((before, registry.version))
        barrier.wait(SECONDS_MAX)
    one, two = (replies.get(timeout=SECONDS_MAX) for _ in workers)
    for worker in workers:
        worker.join(SECONDS_MAX)
    assert one == two
    for (version, names), (before, after) in zip(one, bounds, strict=True):
        assert before <= version <= after
        assert tuple(names) == registry.at(version).snapshot().names
    assert registry.pins("query") == {batch: version for batch, (version, _) in enumerate(one)}
    copies = [list(host.glob("penstock-plans-*/pinned-*")) for host in hosts]
    assert copies[0]
    assert not copies[1]


def test_plan_that_the_registry_lacks_is_named_with_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="starting the stream anew") as caught:
        PinnedPlan(str(tmp_path)).load("1-0-0.plan")
    assert caught.value.code == "PR0009"
