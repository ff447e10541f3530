"""Sessions with the names of their subscriptions: for a registry that changes, or a fixed plan."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from penstock.engine.gathering import GatheringSnapshot
from penstock.engine.suspension import Suspensions
from penstock.engine.usage import Usage
from penstock.errors import RegistryError
from penstock.kernel import Batch, Plan, Session
from penstock.limits import Limits
from penstock.registry import AnyRegistry, Snapshot
from penstock.registry.plans.live import RATIO, Branch


class Follower:
    """A session for the current plan of a registry, and the names of its numbers.

    Between documents it takes over what has changed. A live one does so in the middle of a
    document as well, where it keeps the plans it began with beside those that came later.
    """

    def __init__(
        self,
        registry: AnyRegistry,
        limits: Limits,
        usage: Usage,
        *,
        is_live: bool = False,
        suspensions: Suspensions | None = None,
        is_trusting: bool = False,
        streams: Mapping[str, str] | None = None,
        **how: bool,
    ) -> None:
        self._suspensions = suspensions
        self._suspended_at = 0
        self.is_trusting = is_trusting
        self._registry = registry
        self._usage = usage
        self._snapshot = registry.snapshot()
        self._branch: Branch | None = registry.branch() if is_live else None
        # Pieces since the last change, and when tiers are looked at for the next time.
        self._calls, self._merge_at = 0, 1
        self.names: Sequence[str] = self._snapshot.names
        self._plan = self._snapshot.plan
        if self._branch is not None:
            _require_no_bindings(self._snapshot)
            self.names, self._plan = self._branch.plan()
        self.session = Session(
            self._plan,
            limits,
            is_live=is_live,
            streams=streams,
            **how,
        )
        usage.follow(self)

    @property
    def snapshot(self) -> Snapshot:
        """What the session evaluates."""
        return self._snapshot

    @property
    def version(self) -> int:
        """The registry's version that the session evaluates."""
        return self._snapshot.version

    def is_behind(self) -> bool:
        """Whether the registry has changed; rows that wait should be taken before ``advance``."""
        if self._suspensions is not None and self._suspensions.version != self._suspended_at:
            return True
        return self._registry.snapshot() is not self._snapshot

    def advance(self) -> None:
        """Go on with the registry's current plan, from the next document on."""
        snapshot = self._registry.snapshot()
        is_same = snapshot is self._snapshot
        if self._branch is not None and (not is_same or self._branch.count > 1):
            self._begin_anew(snapshot)
        if not is_same and self._branch is None:
            with self._usage.lock:
                self._usage.count(self, snapshot.plan)
                self.session.adopt(snapshot.plan)
                self._snapshot, self.names = snapshot, snapshot.names
        suspensions = self._suspensions
        # Names are many, so they are looked at only where something has changed.
        if suspensions is not None and not (is_same and suspensions.version == self._suspended_at):
            self._suspended_at = suspensions.version
            if self._suspended_at:
                self.session.suspend(self._silent(suspensions))

    def _silent(self, suspensions: Suspensions) -> list[int]:
        """Return the numbers that get nothing."""
        numbers = suspensions.numbers(self.names)
        if isinstance(self._snapshot, GatheringSnapshot):
            numbers += self._snapshot.unused_sides(suspensions.reasons())
        return numbers

    def joined_by(self, number: int) -> Sequence[str]:
        """Return the subscriptions that join what a number behind the names gathers, if any do."""
        if isinstance(self._snapshot, GatheringSnapshot):
            return self._snapshot.joining[number - len(self.names)]
        return ()

    def interrupt(self) -> None:
        """End what the session does, from any thread."""
        self.session.interrupt()

    def settle(self) -> None:
        """Add the session's counts to the usage."""
        with self._usage.lock:
            self._usage.count(self)

    def discount(self, batch: Batch) -> None:
        """Take rows back that were counted and are not handed out."""
        (numbers, *_), _ = batch.spans()
        counts, names = Counter(array("I", numbers)), self.names
        back = {names[number]: -rows for number, rows in counts.items() if number < len(names)}
        self._usage.count_rows(back)

    def attach(self) -> None:
        """Go on with the registry's current plan in the middle of a document, if live.

        Raises:
            LimitError: The document passed a limit.
            RegistryError: A subscription joins streams.
        """
        if self._branch is None:
            return
        if self.is_behind():
            self._snapshot = self._registry.snapshot()
            _require_no_bindings(self._snapshot)
            self._branch.shed(self.session.tier_states())
            names, plan = self._branch.plan()
            if plan is not self._plan:
                self._renumber(names, plan)
                self.session.attach(plan)
            self._calls, self._merge_at = 0, 1
        self._merge_tiers(self._branch)

    def _merge_tiers(self, branch: Branch) -> None:
        """Merge tiers if that can be done.

        The longer there was no change, the rarer they are looked at, and the larger are those that
        are merged, so that merging costs a piece of the document little.
        """
        self._calls += 1
        if self._calls < self._merge_at:
            return
        ratio = RATIO * self._merge_at
        self._merge_at *= 2

        def replace(names: Sequence[str], plan: Plan, place: int, numbers: Sequence[int]) -> bool:
            with self._usage.lock:
                self._usage.count(self, plan)
                if not self.session.merge(plan, place, numbers):
                    return False
                self._plan, self.names = plan, names
            return True

        with suppress(RegistryError, OSError):
            while branch.merge_where(self._plan, self.session.tier_states(), ratio, replace):
                pass

    def _renumber(self, names: Sequence[str], plan: Plan) -> None:
        with self._usage.lock:
            self._usage.count(self, plan)
            self._plan, self.names = plan, names
        # Numbers mean other subscriptions now.
        self._suspended_at = 0

    def _begin_anew(self, snapshot: Snapshot) -> None:
        """Follow the registry with its own tiers again: between documents all can be merged."""
        _require_no_bindings(snapshot)
        self._snapshot = snapshot
        self._branch = self._registry.branch()
        names, plan = self._branch.plan()
        self._renumber(names, plan)
        self.session.adopt(plan)
        self._calls, self._merge_at = 0, 1


def _require_no_bindings(snapshot: Snapshot) -> None:
    """See whether a document that follows changes while it is read can serve all subscriptions.

    Raises:
        RegistryError: One joins streams, which are gathered from whole plans.
    """
    if isinstance(snapshot, GatheringSnapshot):
        name = next(iter(snapshot.bound))
        message = f"`{name}` joins streams, which a live document does not; open it without `live`"
        raise RegistryError("PR0011", message)


@dataclass(frozen=True, slots=True)
class Fixed:
    """A session whose plan stays, where a follower is expected."""

    session: Session
    names: Sequence[str] = ()
    is_trusting: bool = False

    def is_behind(self) -> bool:
        """Return False: there is no registry."""
        return False

    def advance(self) -> None:
        """Do nothing."""

    def attach(self) -> None:
        """Do nothing."""

    def joined_by(self, number: int) -> Sequence[str]:
        """Return nothing: all programs have names."""
        return ()

    def discount(self, batch: Batch) -> None:
        """Do nothing: there are no statistics."""
