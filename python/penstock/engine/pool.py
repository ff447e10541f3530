"""The followers of an engine: made when they are needed, and kept for the next run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from weakref import WeakSet

from penstock.engine.follower import Follower
from penstock.engine.stages import JoinStages
from penstock.engine.suspension import Suspensions
from penstock.engine.usage import Usage
from penstock.limits import Limits
from penstock.registry import AnyRegistry

_IDLE_MAX = 16

Active = WeakSet[Follower | JoinStages]


class Pool:
    """Followers of a registry, or of one under a schema. ``active`` holds those that are in use."""

    def __init__(
        self,
        limits: Limits,
        usage: Usage,
        suspensions: Suspensions,
        active: Active,
        streams: Mapping[str, str],
        *,
        is_trusting: bool,
    ) -> None:
        self._limits = limits
        self._usage = usage
        self._suspensions = suspensions
        self._active = active
        self._streams = streams
        self.is_trusting = is_trusting
        self._idle: defaultdict[tuple[int, frozenset[str]], list[Follower]]
        self._idle = defaultdict(list)

    def new(self, registry: AnyRegistry, **options: bool) -> Follower:
        """Return a follower of one's own."""
        return Follower(
            registry,
            self._limits,
            self._usage,
            suspensions=self._suspensions,
            is_trusting=self.is_trusting,
            streams=self._streams,
            **options,
        )

    @contextmanager
    def followed(self, registry: AnyRegistry, **options: bool) -> Iterator[Follower]:
        """Give a follower for the time of a run, of the registry or of one under a schema.

        One that comes to the end of its run is kept for the next: it knows the plan already.
        """
        idle = self.idle_ones(registry, **options)
        follower = self.borrow(idle, registry, **options)
        try:
            yield follower
        except BaseException:
            # In the middle of a document a session is of no use to anybody else.
            self._active.discard(follower)
            follower.settle()
            raise
        self.release(idle, follower)

    def borrow(self, idle: list[Follower], registry: AnyRegistry, **options: bool) -> Follower:
        """Return one of those that are idle, or a new one."""
        try:
            follower = idle.pop()
        except IndexError:  # another thread may have been faster
            follower = self.new(registry, **options)
        # A run that was cancelled may have come to its end nevertheless.
        follower.session.clear()
        follower.advance()
        self._active.add(follower)
        return follower

    def release(self, idle: list[Follower], follower: Follower) -> None:
        """Take a follower back."""
        self._active.discard(follower)
        if len(idle) < _IDLE_MAX:
            idle.append(follower)
        else:
            follower.settle()

    def idle_ones(self, registry: AnyRegistry, **options: bool) -> list[Follower]:
        """Return the idle followers of a registry with the same options."""
        chosen = frozenset(name for name, is_on in options.items() if is_on)
        return self._idle[id(registry), chosen]
