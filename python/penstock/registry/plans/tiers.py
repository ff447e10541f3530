"""Tiers: subscriptions that were planned together.

A subscription has a *serial*: it grows with every one that is added, and a replaced one gets a new
one. A tier holds the subscriptions of a range of serials. Removing one from a tier only marks it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import NamedTuple

from penstock.kernel import Plan, PlanBuilder
from penstock.registry.plans.names import AttachedNames, FlatNames

_CHUNK = 4096


class PlannedSubscription(NamedTuple):
    """What a plan needs of a subscription; its place is that of ``requests``."""

    serial: int
    place: int
    name: str
    program: bytes


class Removals(NamedTuple):
    """A file with places of a tier that were removed, and how many they are."""

    file: str
    length: int


class Tier:
    """Subscriptions that were planned together; some may have been removed since.

    ``file`` is the name under which streams find the tier, and ``removals`` a file with the first
    ones of ``removed_places``, if it was published.
    """

    def __init__(self, serials: Sequence[int], names: FlatNames, plan: Plan) -> None:
        self.serials = serials
        self.names = names
        self.planned = plan
        self.removed: set[int] = set()
        """The serials of those that were removed."""
        self.removed_places: list[int] = []
        """Their numbers in the plan, in the order in which they were removed."""
        self.file: str | None = None
        self.removals: Removals | None = None
        self.replaced: tuple[str, ...] = ()
        """The files of those that were merged into this one, until the merge is published."""
        self._unmarked: list[int] = []
        self._plan = plan

    @property
    def plan(self) -> Plan:
        """The plan without the removed subscriptions."""
        if self._unmarked:
            self._plan = self._plan.without(self._unmarked)
            self._unmarked = []
        return self._plan

    @property
    def size(self) -> int:
        """How many subscriptions are left."""
        return len(self.serials) - len(self.removed)

    @property
    def total(self) -> int:
        """The sum of their serials."""
        return self._sum - sum(self.removed)

    @cached_property
    def _sum(self) -> int:
        return sum(self.serials)

    def holds(self, serial: int) -> bool:
        """Whether the serial lies in the tier's range."""
        return bool(self.serials) and self.serials[0] <= serial <= self.serials[-1]

    def copy(self) -> Tier:
        """Return a tier of the same plan, from which other subscriptions may be removed."""
        copy = Tier(self.serials, self.names, self.planned)
        copy._plan = self.plan
        copy.removed = self.removed.copy()
        copy.removed_places = self.removed_places.copy()
        copy.file, copy.removals = self.file, self.removals
        return copy

    def remove(self, serial: int) -> bool:
        """Mark a subscription as removed; return whether the tier had it."""
        place = bisect_left(self.serials, serial)
        is_there = place < len(self.serials) and self.serials[place] == serial
        if not is_there or serial in self.removed:
            return False
        self.removed.add(serial)
        self.removed_places.append(place)
        self._unmarked.append(place)
        return True

    def remove_places(self, places: Iterable[int]) -> None:
        """Mark subscriptions as removed, by their numbers in the plan."""
        fresh = list(places)
        self.removed.update(self.serials[place] for place in fresh)
        self.removed_places += fresh
        self._unmarked += fresh


class TierBuilder:
    """Plans subscriptions that come in the order of their serials."""

    def __init__(self) -> None:
        self._builder = PlanBuilder()
        self._serials = array("Q")
        self._offsets = array("q", [0])
        self._names = bytearray()

    def add(self, subscriptions: Sequence[tuple[int, int, str, bytes]]) -> None:
        """Add the next ones: serial, place, name and program, as in ``PlannedSubscription``."""
        if not subscriptions:
            return
        serials, places, plain_names, programs = zip(*subscriptions, strict=True)
        names = [name.encode("utf-8", "surrogatepass") for name in plain_names]
        self._serials.extend(serials)
        self._offsets.extend(accumulate(map(len, names), initial=self._offsets.pop()))
        self._names += b"".join(names)
        self._builder.add(b"".join(programs), list(map(len, programs)), places)

    def finish(self) -> Tier:
        """Return the tier of all of them."""
        names = FlatNames(self._offsets, bytes(self._names))
        return Tier(self._serials, names, self._builder.freeze())


def build_tier(subscriptions: Iterable[PlannedSubscription]) -> Tier:
    """Return the tier of subscriptions that come in the order of their serials."""
    builder, rest = TierBuilder(), iter(subscriptions)
    while chunk := list(islice(rest, _CHUNK)):
        builder.add(chunk)
    return builder.finish()


def attach_tiers(tiers: list[Tier]) -> tuple[Sequence[str], Plan]:
    """Return the names and the plan of all tiers together."""
    if not tiers:
        return (), Plan.build([])
    if len(tiers) == 1:
        return tiers[0].names, tiers[0].plan
    names = AttachedNames(tier.names for tier in tiers)
    return names, Plan.attached(
        list(zip((tier.plan for tier in tiers), names.starts, strict=False))
    )
