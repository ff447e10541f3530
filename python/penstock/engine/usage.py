"""What each subscription did and what it cost: counted with every row, sampled for the rest."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING, Literal
from weakref import WeakSet

from penstock.kernel import Plan
from penstock.results.html import table

if TYPE_CHECKING:
    from penstock.engine.follower import Follower

Measure = Literal["cost", "matches", "held_bytes"]


@dataclass(frozen=True, slots=True)
class Used:
    """What a subscription did in an engine.

    ``matches`` and ``last_match`` are exact. ``cost_share`` is its part of all the work that is
    not the same for every document: one for each row, and 1,024 for each step that was looked
    at, shared by those who asked for it; one step in 1,024 is looked at. ``held_bytes`` are held
    now for results that are not decided, in documents that are open; who waits for the same
    bytes shares them.
    """

    name: str
    matches: int = 0
    last_match: datetime | None = None
    held_bytes: int = 0
    cost_share: float = 0.0


class EngineStatistics:
    """The subscriptions that did something, up to the moment of asking."""

    def __init__(self, used: Iterable[Used]) -> None:
        self._used = {one.name: one for one in used}

    def of(self, name: str) -> Used:
        """Return what a subscription did; one that did nothing is all zeros."""
        return self._used.get(name, Used(name))

    def top(self, count: int = 10, by: Measure = "cost") -> list[Used]:
        """Return the subscriptions that did most, the first one most of all."""
        field = "cost_share" if by == "cost" else by
        ranked = sorted(self._used.values(), key=lambda one: (-getattr(one, field), one.name))
        return ranked[:count]

    def __len__(self) -> int:
        return len(self._used)

    def __repr__(self) -> str:
        return f"<EngineStatistics of {len(self):,} subscriptions>"

    def _repr_html_(self) -> str:
        ranked = self.top(len(self))
        rows = (
            (one.name, f"{one.cost_share:.1%}", one.matches, one.last_match, one.held_bytes)
            for one in ranked
        )
        return table(("name", "cost", "matches", "last match", "held bytes"), rows)


class Usage:
    """Adds up what the sessions of an engine say of their subscriptions, by name."""

    def __init__(self) -> None:
        self.lock = Lock()
        self._followers: WeakSet[Follower] = WeakSet()
        # Matches, seconds of the last one, cost.
        self._counted: dict[str, list[float]] = {}

    def follow(self, follower: Follower) -> None:
        """Ask a session from now on."""
        with self.lock:
            self._followers.add(follower)

    def count(self, follower: Follower, before: Plan | None = None) -> None:
        """Add up what a session has counted; the caller holds the lock.

        Given the plan that is adopted next, only what would be lost by it: that costs the change.
        """
        names = follower.names
        for number, matches, last, cost in follower.session.take_usage(before):
            if number < len(names):
                self._add(names[number], matches, last, cost)
                continue
            # Bindings are no rows; their cost is shared by the subscriptions that join them.
            sharing = follower.joined_by(number)
            for name in sharing:
                self._add(name, 0, 0, cost / len(sharing))

    def count_rows(self, counts: Mapping[str, int]) -> None:
        """Add rows that joins made, by subscription; each costs one."""
        now = int(time.time())
        with self.lock:
            for name, rows in counts.items():
                self._add(name, rows, now, rows)

    def _add(self, name: str, matches: int, last: float, cost: float) -> None:
        counted = self._counted.setdefault(name, [0, 0, 0.0])
        counted[0] += matches
        counted[1] = max(counted[1], last)
        counted[2] += cost

    def statistics(self) -> EngineStatistics:
        """Return the sums."""
        held: dict[str, int] = {}
        with self.lock:
            for follower in self._followers:
                self.count(follower)
                names = follower.names
                for number, share in follower.session.held_by_subscription():
                    if number < len(names):
                        held[names[number]] = held.get(names[number], 0) + share
            whole = sum(cost for _, _, cost in self._counted.values()) or 1.0
            return EngineStatistics(
                [self._used(name, held.get(name, 0), whole) for name in {*self._counted, *held}]
            )

    def _used(self, name: str, held: int, whole: float) -> Used:
        matches, last, cost = self._counted.get(name, (0, 0, 0.0))
        when = datetime.fromtimestamp(last, UTC) if matches else None
        return Used(name, int(matches), when, held, cost / whole)
