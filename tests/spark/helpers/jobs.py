"""Runs the job of ``tests.spark.helpers.job`` and compares its rows with the engine's."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import penstock
from penstock.registry.plans.files import SUFFIX
from penstock.registry.storage.folder import TIERS
from penstock.spark.tiers import COPIED_BYTES_MIN
from tests.spark.helpers.job import documents, identity, joining, registries, registry_folder
from tests.spark.helpers.servers import ROOT, surroundings

JOB_SECONDS_MAX = 900


def run_job(session: str, folder: Path) -> dict[str, list[list[str]]]:
    """Return the rows of the job by what it did."""
    said = run_module("tests.spark.helpers.job", session, str(folder))
    found: dict[str, list[list[str]]] = json.loads(said.splitlines()[-1])
    return found


def run_module(*arguments: str) -> str:
    """Return what a module says that is run in a process of its own and ends well."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=ROOT,
        env=surroundings({}),
        capture_output=True,
        text=True,
        check=False,
        timeout=JOB_SECONDS_MAX,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout


def expected_rows(folder: Path) -> dict[str, list[list[str]]]:
    """Return what the engine finds, in batch and as a stream."""
    made = {}
    source = [penstock.Document(data, id=str(number)) for number, data in documents()]
    for name, registry in registries(folder).items():
        rows = penstock.Engine(registry).run(source)
        made[f"{name} batch"] = made[f"{name} stream"] = _identities(rows)
    timed = [replace(one, stream="S", time=float(str(one.id))) for one in source]
    made["joins"] = _identities(penstock.Engine(joining()).run(timed))
    return made


def _identities(rows: Iterable[penstock.Result]) -> list[list[str]]:
    return sorted(identity({key: getattr(row, key) for key in _NAMES}) for row in rows)


_NAMES = ("document", "subscription", "ordinal", "kind", "value")


def require_plans(host: Path, folder: Path) -> None:
    """Check that a host has what it needs once: two plans that were sent, and one large tier.

    The tier of the small registry that a stream follows is in the memory of workers alone.
    """
    sizes = {}
    for name in ("small", "large"):
        (tier,) = (registry_folder(folder, name) / TIERS).iterdir()
        sizes[name] = tier.stat().st_size
    assert sizes["small"] < COPIED_BYTES_MIN <= sizes["large"]
    files = list(host.glob("penstock-plans-*/*"))
    assert len([path for path in files if path.suffix == SUFFIX]) == 2
    copies = [path.name for path in files if path.suffix != SUFFIX]
    assert copies == [f"pinned-{tier.name}"]
