"""The plan of a registry that changes: tiers that stay, and a small one that changes rebuild.

Additions go to the last, small tier, the only one that a change rebuilds; removals are marks. So
the cost of a change depends on its query and on the small tier, not on the other subscriptions.
When small tiers add up, neighbours are merged, in the background if the caller wants, and the
merged tier replaces them when it is ready. Sizes grow geometrically, so there are few tiers, and
each subscription is planned again only a few times.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from threading import RLock, Thread
from weakref import WeakSet

from penstock.errors import DamageError, RegistryError
from penstock.kernel import Plan
from penstock.registry.plans.tiers import PlannedSubscription, Tier, attach_tiers, build_tier

SMALL_MAX = 64
"""Subscriptions of the tier that every change rebuilds."""
FIXED, FRESH = 0, 2
"""States of a session's tiers in the middle of a document; see ``Session.tier_states``."""
REMOVED_RATIO = 8
"""A live document makes a tier anew when one in so many of its subscriptions was removed."""
RATIO = 4
"""A tier is merged with those after it unless it has this many times their subscriptions."""

SubscriptionReader = Callable[[int, int], Iterable[PlannedSubscription]]
"""Returns the subscriptions in a range of serials, ends included, in order: those that are there
at the time of the call, even if they are read later."""


class LivePlan:
    """Tiers and their changes. The caller holds its lock for every call except ``merge``."""

    def __init__(
        self,
        lock: RLock,
        read: SubscriptionReader,
        tiers: Iterable[Tier] = (),
        prepare: Callable[[Tier], None] | None = None,
    ) -> None:
        """Begin with tiers; ``prepare`` is called with each merged one before it is used."""
        self._lock = lock
        self._read = read
        self._prepare = prepare
        self._tiers: list[Tier] = [tier for tier in tiers if tier.serials]
        self._small: dict[int, PlannedSubscription] = {}
        self._last: Tier | None = None
        self._attached: tuple[Sequence[str], Plan] | None = None
        self._merging: tuple[int, Thread] | None = None
        self._branches: WeakSet[Branch] = WeakSet()
        self._small_max = SMALL_MAX

    def add(self, subscription: PlannedSubscription) -> None:
        """Add a subscription, whose serial is the largest so far."""
        self._small[subscription.serial] = subscription
        self._last = self._attached = None
        for branch in self._branches:
            branch.add(subscription)

    def append(self, tier: Tier) -> None:
        """Add the subscriptions of a tier, whose serials are the largest so far."""
        self.plan()
        if self._last is not None:
            self._tiers.append(self._last)
        self._tiers.append(tier)
        self._small, self._last, self._attached = {}, None, None
        for branch in self._branches:
            branch.append(tier.copy())

    def remove(self, serial: int) -> bool:
        """Remove a subscription; return whether it was there."""
        self._attached = None
        for branch in self._branches:
            branch.remove(serial)
        if self._small.pop(serial, None) is not None:
            self._last = None
            return True
        return any(tier.remove(serial) for tier in self._tiers if tier.holds(serial))

    def plan(self) -> tuple[Sequence[str], Plan]:
        """Return the names, by the kernel's numbers, and the plan of the current subscriptions."""
        if self._attached is None:
            if self._last is None and self._small:
                self._last = build_tier(self._small.values())
            if self._last is not None and len(self._small) > self._small_max:
                self._tiers.append(self._last)
                self._last, self._small = None, {}
            self._attached = attach_tiers(self._all_tiers())
        return self._attached

    def tiers(self) -> list[Tier]:
        """Return the tiers of ``plan``, in their order."""
        self.plan()
        return self._all_tiers()

    def settle_on(self, other: LivePlan) -> None:
        """Take over the tiers of another plan of the same subscriptions."""
        self._tiers, self._small, self._last = other._tiers, other._small, other._last
        self._attached = None

    def _all_tiers(self) -> list[Tier]:
        return self._tiers if self._last is None else [*self._tiers, self._last]

    @property
    def base(self) -> Tier | None:
        """The first tier, if there is one that stays."""
        return self._tiers[0] if self._tiers else None

    def branch(self) -> Branch:
        """Return a separate plan that follows every change from now on, for a live document.

        The branch is followed as long as it is referenced.
        """
        self.plan()
        branch = Branch(self._lock, self._read, (tier.copy() for tier in self._all_tiers()))
        self._branches.add(branch)
        return branch

    def compact(self) -> Tier:
        """Return everything as one tier, which is built now unless it is there."""
        if len(self._tiers) == 1 and not self._small and not self._tiers[0].removed:
            return self._tiers[0]
        subscriptions: Iterable[PlannedSubscription] = self._small.values()
        size = len(self._small) + sum(tier.size for tier in self._tiers)
        if self._tiers:
            first, last = self._tiers[0].serials[0], self._tiers[-1].serials[-1]
            subscriptions = chain(self._read(first, last), subscriptions)
        tier = _build_whole(subscriptions, size)
        if self._prepare is not None:
            self._prepare(tier)
        self._tiers = [tier] if tier.serials else []
        self._small, self._last, self._attached = {}, None, None
        return tier

    def merge_in_background(self, swapped: Callable[[], None]) -> None:
        """Merge tiers in a thread if some are due; ``swapped`` is called after each merge."""
        if self.is_merging or self._due() is None:
            return
        thread = Thread(target=self._merge_all, args=(swapped,), daemon=True)
        self._merging = (os.getpid(), thread)
        thread.start()

    def wait(self) -> None:
        """Wait until no merge is running."""
        if self._merging is not None and self.is_merging:
            self._merging[1].join()

    @property
    def is_merging(self) -> bool:
        """Whether a merge is running."""
        # A thread does not survive a fork.
        if self._merging is None or self._merging[0] != os.getpid():
            return False
        return self._merging[1].is_alive()

    def _merge_all(self, swapped: Callable[[], None]) -> None:
        # An unreadable table is reported to the next caller who reads it, not from this thread.
        with contextlib.suppress(RegistryError, OSError):
            while (due := self._due()) is not None:
                self.merge(*due)
                swapped()

    def merge(self, start: int, stop: int) -> None:
        """Merge neighbouring tiers; the lock is held only while they are replaced."""
        with self._lock:
            old = self._tiers[start:stop]
            removed_before = set().union(*[tier.removed for tier in old])
            size = sum(tier.size for tier in old)
            subscriptions = self._read(old[0].serials[0], old[-1].serials[-1])
        tier = _build_whole(subscriptions, size)
        if self._prepare is not None:
            self._prepare(tier)
        with self._lock:
            if self._tiers[start:stop] != old:
                return
            for serial in set().union(*[tier.removed for tier in old]) - removed_before:
                tier.remove(serial)
            tier.replaced = _files(old)
            self._tiers[start:stop] = [tier] if tier.serials else []
            self._attached = None

    def _due(self) -> tuple[int, int] | None:
        """Return the range of tiers that should be merged, or None."""
        with self._lock:
            start, stop = _tail([tier.size for tier in self._tiers])
            if stop - start > 1:
                return start, stop
            for place, tier in enumerate(self._tiers):
                if len(tier.removed) > max(tier.size, SMALL_MAX):
                    return place, place + 1
        return None


class Branch(LivePlan):
    """The plan of a session in the middle of a document, whose tiers have states.

    Each batch of changes adds a tier. A tier without subscriptions goes, and neighbours become one
    where the session can go on with it: so changes cost what they cost between documents.
    """

    def __init__(self, lock: RLock, read: SubscriptionReader, tiers: Iterable[Tier]) -> None:
        super().__init__(lock, read, tiers)
        self._small_max = 0

    @property
    def count(self) -> int:
        """How many tiers there are."""
        return len(self._tiers)

    def shed(self, states: Sequence[int]) -> None:
        """Forget tiers without subscriptions, given what can be done with the first tiers."""
        with self._lock:
            fixed = max((place for place, state in enumerate(states) if state == FIXED), default=-1)
            kept = [tier for place, tier in enumerate(self._tiers) if place <= fixed or tier.size]
            if len(kept) < len(self._tiers):
                self._tiers, self._attached = kept, None

    def merge_where(
        self,
        plan: Plan,
        states: Sequence[int],
        ratio: int,
        replace: Callable[[Sequence[str], Plan, int, Sequence[int]], bool],
    ) -> bool:
        """Merge tiers of a plan whose state allows it, if some are due; return whether it was done.

        They are due where none has ``ratio`` times the subscriptions of those after it.
        ``replace`` gets names, plan, the place of the merged tier and the numbers that its
        subscriptions had; it returns False where the session keeps the old ones.

        Raises:
            RegistryError: The subscriptions can no longer be read.
        """
        with self._lock:
            due = self._due_of(states, ratio)
            if due is None or not self._is_attached(plan):
                return False
            start, stop = due
            old = self._tiers[start:stop]
            first = sum(len(tier.serials) for tier in self._tiers[:start])
            serials = chain.from_iterable(tier.serials for tier in old)
            removed = set().union(*[tier.removed for tier in old])
            numbers = [n for n, serial in enumerate(serials, first) if serial not in removed]
            subscriptions = self._read(old[0].serials[0], old[-1].serials[-1])
        tier = _build_whole(subscriptions, len(numbers))
        with self._lock:
            # Where something has changed meanwhile, the next call begins anew.
            if not self._is_attached(plan):
                return False
            tiers = [*self._tiers[:start], tier, *self._tiers[stop:]]
            attached = attach_tiers(tiers)
            if not replace(*attached, start, numbers):
                return False
            self._tiers, self._attached = tiers, attached
            return True

    def _is_attached(self, plan: Plan) -> bool:
        return self._attached is not None and self._attached[1] is plan

    def _due_of(self, states: Sequence[int], ratio: int) -> tuple[int, int] | None:
        """Return the range of tiers that should be merged, all of them fresh, or None."""
        fixed = max((place for place, state in enumerate(states) if state == FIXED), default=-1)
        stop = min(len(states), len(self._tiers))
        while stop > fixed + 1:
            start = stop
            while start > fixed + 1 and states[start - 1] == FRESH:
                start -= 1
            first, _ = _tail([tier.size for tier in self._tiers[start:stop]], ratio)
            if stop - start - first > 1:
                return start + first, stop
            for place in range(start, stop):
                tier = self._tiers[place]
                if tier.size and len(tier.removed) > max(tier.size // REMOVED_RATIO, RATIO):
                    return place, place + 1
            stop = start - 1
        return None


def _tail(sizes: Sequence[int], ratio: int = RATIO) -> tuple[int, int]:
    """Return the range of the last tiers that together are large beside the one before them."""
    start = len(sizes) - 1
    while start > 0 and sizes[start - 1] <= ratio * sum(sizes[start:]):
        start -= 1
    return max(start, 0), len(sizes)


def _files(tiers: Iterable[Tier]) -> tuple[str, ...]:
    """Return the files under which neighbours were published, or nothing if some were not."""
    files = [file for tier in tiers for file in tier.replaced or (tier.file,)]
    return tuple(file for file in files if file is not None) if all(files) else ()


def _build_whole(subscriptions: Iterable[PlannedSubscription], size: int) -> Tier:
    """Return the tier of ``size`` subscriptions.

    Raises:
        DamageError: Some of them can no longer be read.
    """
    tier = build_tier(subscriptions)
    if len(tier.serials) != size:
        message = f"{size} subscriptions were planned, and {len(tier.serials)} of them can be read"
        raise DamageError("PR0030", message)
    return tier
