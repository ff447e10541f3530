"""How a plan gets from the driver to the workers, and is mapped once per host.

A plan is a plan file named by its content. A small one travels inside the function, a large one as
an artifact of the session; either way the first worker of a host writes it to a private folder,
and all workers there map that file. The plan of a registry that a stream follows is in the
registry's folder instead, as tiers.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import os
import shutil
import stat
import tempfile
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from penstock.errors import DamageError
from penstock.kernel import Plan
from penstock.registry import AnyRegistry, RegistryView
from penstock.registry.changeable import ChangeableRegistry
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans.files import (
    TIER_SUFFIX,
    PackedPlan,
    PlanFile,
    pack_plan,
    read_plan,
)
from penstock.registry.plans.names import FlatNames
from penstock.registry.plans.pins import Pins
from penstock.registry.plans.tiers import Tier
from penstock.registry.storage.table import plan_name
from penstock.sinks.base import java_of
from penstock.spark.features import Feature
from penstock.spark.tiers import (
    UNUSED_SECONDS_MAX,
    attached,
    forget_unused,
    known_tier,
    load_version,
)
from penstock.storage import whole_file

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

EMBEDDED_BYTES_MAX = 512 << 10
"""A plan of up to this size travels inside the function; Spark sends that with every task."""

NamedPlan = tuple[Sequence[str], Plan]
"""The names of the subscriptions, by the kernel's numbers, and the plan."""

_added: WeakKeyDictionary[SparkSession, set[str]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class ShippedPlan:
    """A plan that does not change: the name of its file, and its bytes if they travel along."""

    name: str
    data: bytes | None = field(default=None, repr=False)

    def key(self) -> str:
        """Return the name of the plan's file."""
        return self.name

    @property
    def family(self) -> str:
        """What plans have in common that a session may go on with; here only the plan itself."""
        return self.name

    def load(self, key: str) -> NamedPlan:
        """Return the plan, mapped from the host's folder, and the names of its subscriptions.

        Raises:
            OSError: The plan did not arrive, or the folder cannot be written.
            DamageError: The plan was made by another version of Penstock.
        """
        content = self.read()
        return content.names, content.plan

    def read(self) -> PlanFile:
        """Return the content of the plan's file, mapped from the host's folder.

        Raises:
            OSError: The plan did not arrive, or the folder cannot be written.
            DamageError: The plan was made by another version of Penstock.
        """
        return _load(host_folder() / self.name, self.name, self._arrived)

    def _arrived(self) -> bytes:
        if self.data is not None:
            return self.data
        from pyspark import SparkFiles

        return Path(SparkFiles.get(self.name)).read_bytes()


@dataclass(frozen=True, slots=True)
class PinnedPlan:
    """A durable registry: the plan is that of the version pinned to the micro-batch.

    Only pins, plans and tiers of the registry's folder are used, which may be on another host's
    disk, and not the database.
    """

    path: str

    def key(self) -> str:
        """Return the name of the list of tiers that belongs to this task.

        Raises:
            RegistryError: The registry cannot be reached from here.
        """
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None, "a pinned plan is looked up inside a task"
        query = context.getLocalProperty("sql.streaming.queryId")
        batch = context.getLocalProperty("streaming.sql.batchId")
        assert query is not None, "a pinned plan belongs to a stream"
        assert batch is not None, "a pinned plan belongs to a stream"
        return plan_name(Pins(Path(self.path)).pin(query, int(batch)))

    @property
    def family(self) -> str:
        """What plans have in common that a session may go on with: the registry."""
        return self.path

    def load(self, key: str) -> NamedPlan:
        """Return a version's plan and the names of its subscriptions.

        Raises:
            RegistryError: The registry's folder does not hold the plan.
            OSError: The host's folder cannot be written.
        """
        return load_version(Path(self.path), host_folder(), key)


@dataclass(frozen=True, slots=True)
class ShippedTiers:
    """A version of a durable registry, as the tiers that it shares with versions before.

    ``tiers`` are their files, each with the places that were removed, as numbers of 32 bits.
    """

    path: str
    tiers: tuple[tuple[ShippedPlan, bytes], ...]

    def key(self) -> str:
        """Return a name for these tiers without what was removed."""
        digest = hashlib.blake2b(digest_size=16)
        for tier, removed in self.tiers:
            digest.update(tier.name.encode() + len(removed).to_bytes(8) + removed)
        return digest.hexdigest()

    @property
    def family(self) -> str:
        """What plans have in common that a session may go on with: the registry."""
        return self.path

    def load(self, key: str) -> NamedPlan:
        """Return the version's plan and the names of its subscriptions.

        Raises:
            OSError: A tier did not arrive, or the host's folder cannot be written.
            DamageError: A tier was made by another version of Penstock.
        """
        tiers = [known_tier(tier.name, tier.read) for tier, _ in self.tiers]
        without = (array("I", removed) for _, removed in self.tiers)
        return attached(
            tiers, [tier.without(gone) for tier, gone in zip(tiers, without, strict=True)]
        )


PlanReference = ShippedPlan | PinnedPlan | ShippedTiers


def require_registry(registry: object) -> None:
    """Return if it is a registry.

    Raises:
        TypeError: It is something else; the message says how to make one.
    """
    if not isinstance(registry, ChangeableRegistry | RegistryView):
        given = type(registry).__name__
        message = f"a registry is needed, not a {given}: registry = penstock.Registry(), then "
        raise TypeError(message + 'registry.add("name", query)')


def ship(registry: AnyRegistry, documents: DataFrame) -> PlanReference:
    """Return what the workers of a DataFrame need to get at the registry's plan."""
    if documents.isStreaming and isinstance(registry, DurableRegistry):
        registry.follow()
        return PinnedPlan(str(registry.path))
    forget_unused(host_folder(), UNUSED_SECONDS_MAX)
    if isinstance(registry, RegistryView) and len(tiers := registry.tiers()) > 1:
        # The versions of a stream's micro-batches have most of their tiers in common.
        return _ship_tiers(registry.path, [tier for tier in tiers if tier.size], documents)
    snapshot = registry.compact()
    packed = pack_plan(PlanFile((), FlatNames.of(snapshot.names), snapshot.plan))
    return _ship_file(packed.name, lambda: packed, documents, EMBEDDED_BYTES_MAX)


def _ship_tiers(path: Path, tiers: Sequence[Tier], documents: DataFrame) -> ShippedTiers:
    shipped, embedded_max = [], EMBEDDED_BYTES_MAX
    for tier in reversed(tiers):  # the small ones come last
        content = PlanFile(tier.serials, tier.names, tier.planned)
        pack = partial(pack_plan, content, suffix=TIER_SUFFIX)
        plan = _ship_file(tier.file or pack().name, pack, documents, embedded_max)
        embedded_max -= len(plan.data or b"")
        shipped.append((plan, array("I", tier.removed_places).tobytes()))
    return ShippedTiers(str(path), tuple(reversed(shipped)))


def _ship_file(
    name: str, pack: Callable[[], PackedPlan], documents: DataFrame, embedded_max: int
) -> ShippedPlan:
    """Return a reference to a plan file, which is packed unless the host has it."""
    path = host_folder() / name
    _load(path, name, lambda: b"".join(pack().parts))
    if path.stat().st_size <= embedded_max:
        return ShippedPlan(name, path.read_bytes())
    _add_artifact(documents.sparkSession, path)
    return ShippedPlan(name)


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
    add_file(session, kept)
    added.add(path.name)


def add_file(session: SparkSession, path: Path) -> None:
    """Give a session a file of this host to send to its workers."""
    if Feature.ARTIFACTS.is_there or java_of(session) is None:
        session.addArtifacts(str(path), file=True)
    else:
        session.sparkContext.addFile(str(path))


@lru_cache(maxsize=1)
def _artifacts() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="penstock-artifacts-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _load(path: Path, key: str, fetch: Callable[[], bytes]) -> PlanFile:
    """Return the content of a file of the host, which is fetched if missing or damaged."""
    try:
        content = read_plan(path, key)
    except (OSError, DamageError):
        with whole_file(path) as file:
            file.write(fetch())
        content = read_plan(path, key)
    _note_use(path)
    return content


def _note_use(path: Path) -> None:
    with contextlib.suppress(OSError):
        os.utime(path)
