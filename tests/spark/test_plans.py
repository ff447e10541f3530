"""Plans in files: found by content, mapped in place, put back when damaged or missing."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import penstock
from penstock.kernel import Session
from penstock.spark import plans
from penstock.spark.plans import ShippedPlan, host_folder, ship

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
    session.read_documents(document, [0, len(document)])
    return [names[row[0]].as_py() for row in session.take_rows()[0]]


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
    reference = replace(ship_small(registry_of("a")), name="0" * 32 + plans.SUFFIX, data=None)
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
    long_ago = time.time() - plans.UNUSED_SECONDS_MAX - 60
    for reference in (old, new):
        os.utime(host_folder() / reference.name, (long_ago, long_ago))
    found_by(new, b"<b/>")
    ship_small(registry_of("c"))
    assert not (host_folder() / old.name).exists()
    assert (host_folder() / new.name).exists()
