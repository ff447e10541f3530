"""The tiers of a registry that a stream follows, as workers have them.

A worker reads the list of its micro-batch's version and fetches the tiers that it does not have.
Large ones are kept in the host's folder and mapped by all workers there; small ones, which the
next changes replace, are read into memory. A tier that two versions share is one plan, so a
session that goes on with the next version keeps what it has learnt about it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from weakref import WeakValueDictionary

from penstock.errors import DamageError, RegistryError
from penstock.kernel import Plan
from penstock.registry.plans.files import PlanFile, read_plan, unpack_plan
from penstock.registry.plans.names import AttachedNames, FlatNames
from penstock.registry.plans.published import ListedTier, read_list, read_removed
from penstock.registry.storage.folder import PLANS, TIERS
from penstock.storage import whole_file

COPIED_BYTES_MIN = 1 << 20
"""Smaller tiers are read into the memory of each worker."""
UNUSED_SECONDS_MAX = 3 * 24 * 3600.0
"""A plan that nobody loaded for so long leaves the host's folder."""

_PINNED = "pinned-"
_Content = TypeVar("_Content")


class HostTier:
    """A tier that this process has."""

    def __init__(self, names: FlatNames, plan: Plan) -> None:
        self.names = names
        self._plan = plan
        self._without: tuple[str, Plan] | None = None
        """The plan without those in a file of removed places, and the file."""

    def without(self, places: Sequence[int]) -> Plan:
        """Return the plan without the subscriptions at some places."""
        return self._plan.without(list(places)) if places else self._plan

    def plan(self, listed: ListedTier, folder: Path) -> Plan:
        """Return the plan without what a list says was removed."""
        plan, file = self._plan, listed.removals
        if file is not None:
            if self._without is None or self._without[0] != file:
                removed = _read(folder / file, read_removed)
                self._without = (file, plan.without(list(removed)))
            plan = self._without[1]
        return plan.without(list(listed.removed)) if listed.removed else plan


class PinnedNames(AttachedNames):
    """The names of a version; as long as somebody has them, this process keeps its tiers."""

    def __init__(self, tiers: Iterable[HostTier]) -> None:
        self._tiers = list(tiers)
        super().__init__(tier.names for tier in self._tiers)


_known: WeakValueDictionary[str, HostTier] = WeakValueDictionary()


def load_version(registry: Path, host: Path, key: str) -> tuple[PinnedNames, Plan]:
    """Return the names and the plan of a version, by the name of its list.

    Raises:
        RegistryError: The registry's folder does not hold them, or they are damaged.
        OSError: The host's folder cannot be written.
    """

    folder = registry / TIERS
    listed = _read(registry / PLANS / key, read_list)
    tiers = [known_tier(one.file, partial(_content, folder / one.file, host)) for one in listed]
    return attached(
        tiers, [tier.plan(one, folder) for tier, one in zip(tiers, listed, strict=True)]
    )


def known_tier(file: str, read: Callable[[], PlanFile]) -> HostTier:
    """Return the tier of a file, which is read if this process does not have it."""
    tier = _known.get(file)
    if tier is None:
        content = read()
        tier = _known[file] = HostTier(content.names, content.plan)
    return tier


def attached(tiers: Sequence[HostTier], plans: Sequence[Plan]) -> tuple[PinnedNames, Plan]:
    """Return the names of tiers, and their plans as one."""
    names = PinnedNames(tiers)
    parts = list(zip(plans, names.starts, strict=False))
    return names, Plan.attached(parts) if parts else Plan.build([])


def _content(source: Path, host: Path) -> PlanFile:
    file, copy = source.name, host / f"{_PINNED}{source.name}"
    with contextlib.suppress(OSError, DamageError):
        content = read_plan(copy, file)
        os.utime(copy)
        return content
    data = _read(source, Path.read_bytes)
    content = _read(source, lambda path: unpack_plan(memoryview(data), file, path))
    if len(data) < COPIED_BYTES_MIN:
        return content
    # A copy, since a file on another host's disk may vanish while it is mapped.
    with whole_file(copy) as opened:
        opened.write(data)
    forget_unused(host, UNUSED_SECONDS_MAX)
    return read_plan(copy, file)


def _read(path: Path, read: Callable[[Path], _Content]) -> _Content:
    try:
        return read(path)
    except OSError as error:
        problem = f"{path} cannot be read: {error.strerror or error}"
    except DamageError:
        problem = f"{path} is damaged"
    raise RegistryError("PR0009", f"{problem}; starting the stream anew puts it there")


def forget_unused(folder: Path, seconds: float) -> None:
    """Remove the files of a host's folder that nobody has loaded for some seconds."""
    # Who has one mapped keeps it, and who comes later fetches it again.
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > seconds:
                path.unlink()
