"""How a plan gets from the driver to the workers, and is mapped once per host.

A plan is a file named by its content. A small one travels inside the function, a large one as an
artifact of the session; either way the first worker of a host puts it into a private folder, and
all workers there map the same file.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import stat
import tempfile
import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from penstock.registry import Registry, Snapshot
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans import PlanFileError, read_plan, write_plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EMBEDDED_BYTES_MAX = 512 << 10
"""A plan of up to this size travels inside the function; Spark sends that with every task."""
UNUSED_SECONDS_MAX = 3 * 24 * 3600.0
"""A plan that nobody loaded for so long leaves the host's folder."""

PlanKey = tuple[str, int]
"""What names a plan in a process: a file or a registry's folder, and a version."""

_added: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ShippedPlan:
    """A plan that does not change: the name of its file, and its bytes if they travel along."""

    name: str
    data: bytes | None = field(default=None, repr=False)

    def key(self) -> PlanKey:
        """Return what names the plan in this process."""
        return self.name, 0

    def load(self, key: PlanKey) -> Snapshot:
        """Return the plan, mapped from the host's folder.

        Raises:
            OSError: The plan did not arrive, or the folder cannot be written.
            PlanFileError: The plan was made by another version of Penstock.
        """
        path = host_folder() / self.name
        try:
            names, plan = read_plan(path)
        except (OSError, PlanFileError):
            _put(path, self._arrived())
            names, plan = read_plan(path)
        with contextlib.suppress(OSError):
            os.utime(path)
        return Snapshot(key[1], names, plan)

    def _arrived(self) -> bytes | Path:
        if self.data is not None:
            return self.data
        from pyspark import SparkFiles

        return Path(SparkFiles.get(self.name))


@dataclass(frozen=True, slots=True)
class LivePlan:
    """A durable registry: the plan is that of the version pinned to the micro-batch."""

    path: str

    def key(self) -> PlanKey:
        """Return the registry and the version that belong to this task.

        Raises:
            RegistryError: The registry cannot be reached from here.
        """
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None, "a live plan is looked up inside a task"
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        assert query is not None, "a live plan belongs to a stream"
        assert batch is not None, "a live plan belongs to a stream"
        return self.path, _registry(self.path).pin(query, int(batch))

    def load(self, key: PlanKey) -> Snapshot:
        """Return the plan of a version, mapped from the registry's folder.

        Raises:
            RegistryError: The registry cannot be reached from here.
        """
        return _registry(self.path).snapshot_at(key[1])


PlanReference = ShippedPlan | LivePlan


def ship(registry: Registry, documents: DataFrame) -> PlanReference:
    """Return what the workers of a DataFrame need to get at the registry's plan."""
    if documents.isStreaming and isinstance(registry, DurableRegistry):
        return LivePlan(str(registry.path))
    snapshot = registry.snapshot()
    path = write_plan(host_folder(), snapshot.names, snapshot.plan)
    _forget_unused(path.parent)
    if path.stat().st_size <= EMBEDDED_BYTES_MAX:
        return ShippedPlan(path.name, path.read_bytes())
    _add_artifact(documents.sparkSession, path)
    return ShippedPlan(path.name)


def host_folder() -> Path:
    """Return the folder of plans that all workers of this user on this host share.

    Raises:
        PermissionError: Somebody else could write there.
    """
    folder = Path(tempfile.gettempdir(), f"penstock-plans-{os.getuid()}")
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    is_private = stat.S_ISDIR(found.st_mode) and not found.st_mode & 0o022
    if not is_private or found.st_uid != os.getuid():
        raise PermissionError(f"{folder} belongs to somebody else or is open to others; remove it")
    return folder


def _add_artifact(session: SparkSession, path: Path) -> None:
    """Give the session a file to send to its workers, now and whenever a new one comes."""
    added = _added.setdefault(session, set())
    if path.name in added:
        return
    # Spark may ask for the file until the session ends, so it gets a name that nobody removes.
    kept = _artifacts() / path.name
    if not kept.exists():
        try:
            os.link(path, kept)
        except OSError:
            shutil.copy(path, kept)
    session.addArtifacts(str(kept), file=True)
    added.add(path.name)


@lru_cache(maxsize=1)
def _artifacts() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="penstock-artifacts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache(maxsize=4)
def _registry(path: str) -> DurableRegistry:
    return DurableRegistry(path)


def _put(path: Path, arrived: bytes | Path) -> None:
    """Make a plan's file appear whole, whoever else does the same at this moment."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        data = arrived if isinstance(arrived, bytes) else arrived.read_bytes()
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _forget_unused(folder: Path) -> None:
    # Who has one mapped keeps it, and who comes later has what arrived with the function.
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > UNUSED_SECONDS_MAX:
                path.unlink()
