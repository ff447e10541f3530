"""The plan of a registry that changes: tiers that stay, and a small one that is built anew.

A subscription has a *serial*: it grows with every one that is added, and a replaced one gets a new
one. A *tier* holds the subscriptions of a range of serials, planned together. What is removed from
a tier is only marked; what is added goes to the last, small tier, which is the only one that a
change builds anew. So a change costs what the query costs and the small tier, never what all
subscriptions cost. When small tiers add up, neighbours are merged, in another thread if the
caller likes, and the merged tier takes their place when it is ready. Sizes grow geometrically,
so there are few tiers, and each subscription is planned again a few times only.
"""

from __future__ import annotations

import contextlib
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate, chain, islice
from threading import RLock, Thread
from typing import NamedTuple
from weakref import WeakSet

from penstock.errors import DamageError, RegistryError
from penstock.kernel import Plan, PlanBuilder
from penstock.registry.names import FlatNames, JoinedNames

SMALL_MAX = 64
"""Subscriptions of the tier that every change builds anew."""
RATIO = 4
"""A tier is merged with those after it unless it has this many times their subscriptions."""

_CHUNK = 4096


class Row(NamedTuple):
    """A subscription, as far as a plan is concerned."""

    serial: int
    name: str
    program: bytes


class Tier:
    """Subscriptions that were planned together; some may have been removed since."""

    def __init__(self, serials: Sequence[int], names: FlatNames, plan: Plan) -> None:
        self.serials = serials
        self.names = names
        self.planned = plan
        self.removed: set[int] = set()
        self._unmarked: list[int] = []
        self._plan = plan

    @property
    def plan(self) -> Plan:
        """The plan without what was removed."""
        if self._unmarked:
            self._plan = self._plan.without(self._unmarked)
            self._unmarked = []
        return self._plan

    @property
    def size(self) -> int:
        """How many subscriptions are left."""
        return len(self.serials) - len(self.removed)

    def holds(self, serial: int) -> bool:
        """Whether the serial lies in the tier's range."""
        return bool(self.serials) and self.serials[0] <= serial <= self.serials[-1]

    def copy(self) -> Tier:
        """Return a tier of the same plan, from which other subscriptions may be removed."""
        copy = Tier(self.serials, self.names, self.planned)
        copy._plan, copy._unmarked = self.plan, []
        copy.removed = self.removed.copy()
        return copy

    def remove(self, serial: int) -> None:
        """Mark a subscription as removed, if it is one of the tier's."""
        place = bisect_left(self.serials, serial)
        if place < len(self.serials) and self.serials[place] == serial:
            self.removed.add(serial)
            self._unmarked.append(place)


class TierBuilder:
    """Plans subscriptions that come in the order of their serials."""

    def __init__(self) -> None:
        self._builder = PlanBuilder()
        self._serials = array("Q")
        self._offsets = array("q", [0])
        self._names = bytearray()

    def add(self, rows: Sequence[tuple[int, str, bytes]]) -> None:
        """Add some more: serials, names and programs, as a ``Row`` has them."""
        names = [name.encode("utf-8", "surrogatepass") for _, name, _ in rows]
        serials = [serial for serial, _, _ in rows]
        self._serials.extend(serials)
        self._offsets.extend(accumulate(map(len, names), initial=self._offsets.pop()))
        self._names += b"".join(names)
        programs = [program for _, _, program in rows]
        self._builder.add(b"".join(programs), list(map(len, programs)), serials)

    def finish(self) -> Tier:
        """Return the tier of all of them."""
        names = FlatNames(self._offsets, bytes(self._names))
        return Tier(self._serials, names, self._builder.freeze())


def build_tier(rows: Iterable[Row]) -> Tier:
    """Return the tier of subscriptions that come in the order of their serials."""
    builder, rows = TierBuilder(), iter(rows)
    while some := list(islice(rows, _CHUNK)):
        builder.add(some)
    return builder.finish()


RowReader = Callable[[int, int], Iterable[Row]]
"""Gives the subscriptions in a range of serials, ends included, in their order: those that are left
at the time of the call, whenever they are read."""


class LivePlan:
    """Tiers, and what changes them. The caller's lock is held by everything but a merge."""

    def __init__(self, lock: RLock, read: RowReader, base: Tier | None = None) -> None:
        self._lock = lock
        self._read = read
        self._tiers: list[Tier] = [] if base is None or not base.serials else [base]
        self._small: dict[int, Row] = {}
        self._last: Tier | None = None
        self._joined: tuple[Sequence[str], Plan] | None = None
        self._merging: tuple[int, Thread] | None = None
        self._branches: WeakSet[LivePlan] = WeakSet()
        self._small_max = SMALL_MAX

    def add(self, row: Row) -> None:
        """Add a subscription, whose serial is the largest so far."""
        self._small[row.serial] = row
        self._last = self._joined = None
        for branch in self._branches:
            branch.add(row)

    def append(self, tier: Tier) -> None:
        """Add the subscriptions of a tier, whose serials are the largest so far."""
        self.plan()
        if self._last is not None:
            self._tiers.append(self._last)
        self._tiers.append(tier)
        self._small, self._last, self._joined = {}, None, None
        for branch in self._branches:
            branch.append(tier.copy())

    def remove(self, serial: int) -> None:
        """Remove a subscription."""
        self._joined = None
        for branch in self._branches:
            branch.remove(serial)
        if self._small.pop(serial, None) is not None:
            self._last = None
            return
        for tier in self._tiers:
            if tier.holds(serial):
                tier.remove(serial)

    def plan(self) -> tuple[Sequence[str], Plan]:
        """Return the names by number and the plan of what is subscribed now."""
        if self._joined is None:
            if self._last is None and self._small:
                self._last = build_tier(self._small.values())
            if self._last is not None and len(self._small) > self._small_max:
                self._tiers.append(self._last)
                self._last, self._small = None, {}
            self._joined = _join(self._all_tiers())
        return self._joined

    def _all_tiers(self) -> list[Tier]:
        return self._tiers if self._last is None else [*self._tiers, self._last]

    @property
    def base(self) -> Tier | None:
        """The first tier, if there is one that stays."""
        return self._tiers[0] if self._tiers else None

    def branch(self) -> LivePlan:
        """Return a plan of its own that gets every change from now on, and keeps all its tiers.

        Each batch of changes adds a tier to it, and none is ever built anew: who is in the middle
        of a document goes on with the others as they are. It lasts as long as somebody has it.
        """
        self.plan()
        branch = LivePlan(self._lock, self._read)
        branch._small_max = 0
        branch._tiers = [tier.copy() for tier in self._all_tiers()]
        self._branches.add(branch)
        return branch

    def compact(self) -> Tier:
        """Plan everything in one tier, now, unless it is, and return it."""
        if len(self._tiers) == 1 and not self._small and not self._tiers[0].removed:
            return self._tiers[0]
        rows: Iterable[Row] = self._small.values()
        size = len(self._small) + sum(tier.size for tier in self._tiers)
        if self._tiers:
            first, last = self._tiers[0].serials[0], self._tiers[-1].serials[-1]
            rows = chain(self._read(first, last), rows)
        tier = _build_whole(rows, size)
        self._tiers = [tier] if tier.serials else []
        self._small, self._last, self._joined = {}, None, None
        return tier

    def merge_in_background(self, swapped: Callable[[], None]) -> None:
        """Start to merge what is due, unless that is under way; ``swapped`` is called after it."""
        if self._is_merging or self._due() is None:
            return
        thread = Thread(target=self._merge_all, args=(swapped,), daemon=True)
        self._merging = (os.getpid(), thread)
        thread.start()

    def wait(self) -> None:
        """Return when no merge is under way."""
        if self._merging is not None and self._is_merging:
            self._merging[1].join()

    @property
    def _is_merging(self) -> bool:
        # A thread does not survive a fork.
        if self._merging is None or self._merging[0] != os.getpid():
            return False
        return self._merging[1].is_alive()

    def _merge_all(self, swapped: Callable[[], None]) -> None:
        # A table that can no longer be read is reported to those who ask, not from here.
        with contextlib.suppress(RegistryError, OSError):
            while (due := self._due()) is not None:
                self.merge(*due)
                swapped()

    def merge(self, start: int, stop: int) -> None:
        """Make one tier of some neighbours; only the exchange itself holds the lock."""
        with self._lock:
            old = self._tiers[start:stop]
            gone = set().union(*[tier.removed for tier in old])
            size = sum(tier.size for tier in old)
            rows = self._read(old[0].serials[0], old[-1].serials[-1])
        tier = _build_whole(rows, size)
        with self._lock:
            if self._tiers[start:stop] != old:
                return
            for serial in set().union(*[tier.removed for tier in old]) - gone:
                tier.remove(serial)
            self._tiers[start:stop] = [tier] if tier.serials else []
            self._joined = None

    def _due(self) -> tuple[int, int] | None:
        """Return the tiers that should become one."""
        with self._lock:
            sizes = [tier.size for tier in self._tiers]
            start = len(sizes) - 1
            while start > 0 and sizes[start - 1] <= RATIO * sum(sizes[start:]):
                start -= 1
            if len(sizes) - start > 1:
                return start, len(sizes)
            for place, tier in enumerate(self._tiers):
                if len(tier.removed) > max(tier.size, SMALL_MAX):
                    return place, place + 1
        return None


def _build_whole(rows: Iterable[Row], size: int) -> Tier:
    """Return the tier of so many subscriptions.

    Raises:
        DamageError: Some can no longer be read.
    """
    tier = build_tier(rows)
    if len(tier.serials) != size:
        message = f"{size} subscriptions were planned, and {len(tier.serials)} of them can be read"
        raise DamageError("PR0030", message)
    return tier


def _join(tiers: list[Tier]) -> tuple[Sequence[str], Plan]:
    if not tiers:
        return (), Plan.build([])
    if len(tiers) == 1:
        return tiers[0].names, tiers[0].plan
    parts, first = [], 0
    for tier in tiers:
        parts.append((tier.plan, first))
        first += len(tier.names)
    return JoinedNames(tier.names for tier in tiers), Plan.joined(parts)
