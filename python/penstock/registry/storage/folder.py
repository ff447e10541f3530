"""The folder of a registry, and the names of what lies in it."""

from __future__ import annotations

import os
from pathlib import Path

from penstock.errors import RegistryError
from penstock.storage import disk_path

DATABASE = "registry.sqlite"
LOG = f"{DATABASE}-wal"
SHARED_MEMORY = f"{DATABASE}-shm"
PLANS = "plans"
TIERS = "tiers"
BASES = "bases"
REPAIRED = "repaired"
"""A database that a repair has made and not yet put in its place."""
DAMAGED = "damaged"
"""Copies of what a repair has replaced."""


def folder_of(path: str | os.PathLike[str]) -> Path:
    """Return the folder of a registry.

    Raises:
        RegistryError: It lies in a store that is no disk.
    """
    folder = disk_path(path)
    if folder is None:
        message = (
            f"a registry needs a disk, or a file system mounted as one, and {os.fspath(path)} "
        )
        way_out = "is in a store; keep it on a disk, and a copy of `penstock registry export` there"
        raise RegistryError("PR0037", message + way_out)
    return folder.absolute()
