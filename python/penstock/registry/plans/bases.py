"""Bases: plan files of a registry's large tier, which all processes of a machine map.

A file's name has the version that it holds, a mark of that version and one of the compiler, so a
base of another history of the folder or of another release is never used.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path

from penstock.errors import DamageError
from penstock.registry.plans.files import BASE_SUFFIX, PlanFile, read_plan, remove_plans, write_plan
from penstock.registry.plans.tiers import Tier

BASES_KEPT = 2


def write_base(path: Path, tier: Tier) -> Tier:
    """Write a tier as a base, remove older bases, and return the tier mapped from the file.

    Raises:
        DamageError: The file was damaged meanwhile.
        OSError: The folder cannot be written.
    """
    write_plan(path, PlanFile(tier.serials, tier.names, tier.planned))
    kept = [name for _, name in _listed(path.parent)[:BASES_KEPT]]
    remove_plans(path.parent, kept, fresh_seconds=0.0)
    return Tier(*read_plan(path))


def newest_base(
    folder: Path, version: int, name_of: Callable[[int], str | None]
) -> tuple[int, Tier] | None:
    """Return the newest sound base up to a version, and its own version.

    ``name_of`` returns the file name that a version's base must have.
    """
    for base_version, name in _listed(folder):
        if base_version <= version and name == name_of(base_version):
            with contextlib.suppress(OSError, DamageError):
                return base_version, Tier(*read_plan(folder / name))
    return None


def last_base(folder: Path) -> int:
    """Return the version of the newest sound base, or 0."""
    for version, name in _listed(folder):
        with contextlib.suppress(OSError, DamageError):
            read_plan(folder / name)
            return version
    return 0


def _listed(folder: Path) -> list[tuple[int, str]]:
    """Return versions and names of the files of a folder, the newest first."""
    names = [path.name for path in folder.glob(f"*{BASE_SUFFIX}")]
    versions = [(name.partition("-")[0], name) for name in names]
    return sorted(((int(v), name) for v, name in versions if v.isdecimal()), reverse=True)
