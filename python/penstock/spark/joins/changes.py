"""Which subscriptions came and went with which batch, and what their variables are numbered.

A record holds numbers of variables and rows. They follow from the order in which subscriptions
were added, so that order is kept for good, and so are the pairs of variables that drive the search:
by these, records were sent to their buckets. A batch that comes again finds what it found before.
"""

from __future__ import annotations

import hashlib
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from uuid import uuid4

from penstock.errors import StateError
from penstock.joins import Subscribers
from penstock.kernel import BucketedState
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.registry.requests import joins_of
from penstock.registry.subscriptions import Snapshot
from penstock.spark.joins.state import CHANGES, Manifest, State, read_checked, write_checked

Pair = tuple[int, int]
_WAY_OUT = "restore the folder as a whole"


@dataclass(frozen=True, slots=True)
class Added:
    """A subscription as it is written down; its number is its place among all ever added."""

    number: int
    name: str
    program: str
    """In base 64."""


@dataclass(frozen=True, slots=True)
class Changes:
    """The changes of one batch. Documents without a time of their own have ``arrival_us``."""

    batch: int
    mark: str
    """What no other changes have, not even those of a stream with a folder of the same name."""
    arrival_us: int
    registry_version: str
    added: tuple[Added, ...]
    removed: tuple[int, ...]
    ranks: tuple[Pair, ...]
    """Pairs of variables that are new, those first that shall drive the search."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing came and nothing went."""
        return not (self.added or self.removed)


class Planned:
    """The rows of a state's subscriptions, as every process builds them anew."""

    def __init__(self, limits: Limits, hash_bits: int) -> None:
        self.joins = BucketedState(limits, hash_bits=hash_bits)
        self.subscribers = Subscribers(self.joins, limits)
        self.applied: tuple[tuple[int, str], ...] = ()
        self._ranks: list[Pair] = []

    def apply(self, changes: Changes) -> None:
        """Take over the changes of a batch and the ranks that were found with them.

        Raises:
            StateError: Another version of Penstock wrote them.
        """
        self.take_over(changes.batch, changes.added, changes.removed, changes.ranks)
        self.joins.pin(self._ranks)
        self.applied += ((changes.batch, changes.mark),)

    def take_over(
        self,
        batch: int,
        added: Iterable[Added],
        removed: Iterable[int],
        ranks: Iterable[Pair] = (),
    ) -> None:
        """Take over changes, without the ranks taking effect: what is joined is learnt from.

        Raises:
            StateError: Another version of Penstock wrote them.
        """
        self._ranks += ranks
        for number in removed:
            self.subscribers.remove(number)
        for one in added:
            try:
                self.subscribers.add(one.number, batch, one.name, b64decode(one.program))
            except ValueError:
                message = "the state was made by another version of Penstock, whose programs this "
                message += "one cannot read; begin a new stream with a new folder"
                raise StateError("PJ0005", message) from None
        self.subscribers.settle()

    def new_ranks(self) -> tuple[Pair, ...]:
        """Return the pairs that have no ranks yet, the rarest by what was joined here first."""
        known = set(self._ranks)
        return tuple(pair for pair in self.joins.ranked() if pair not in known)


def read_changes(folder: str, batch: int) -> Changes:
    """Return the changes of a batch.

    Raises:
        StateError: They are missing or damaged.
    """
    entry = read_checked(_path(folder, batch), _WAY_OUT)
    return Changes(
        **entry
        | {
            "added": tuple(Added(**one) for one in entry["added"]),
            "removed": tuple(entry["removed"]),
            "ranks": tuple((left, right) for left, right in entry["ranks"]),
        }
    )


def pin_changes(
    state: State,
    before: Manifest,
    subscriptions: Subscriptions,
    limits: Limits,
    learn: Callable[[Planned], None],
) -> Changes:
    """Return the changes that belong to the batch after a manifest, and keep them for a replay.

    ``learn`` joins some documents, so that ranks can be told.

    Raises:
        StateError: The state is missing or damaged.
    """
    batch = before.batch + 1
    path = _path(str(state.folder), batch)
    if path.exists():
        return read_changes(str(state.folder), batch)
    now_us = time.time_ns() // 1000
    changes = Changes(batch, uuid4().hex, now_us, subscriptions.version, (), (), ())
    if changes.registry_version != before.registry_version:
        earlier = [read_changes(str(state.folder), one) for one, _ in before.changes]
        added, removed = subscriptions.since(earlier)
        changes = replace(changes, added=added, removed=removed)
        if not changes.is_empty:
            planned = Planned(limits, before.hash_bits)
            for one in earlier:
                planned.take_over(one.batch, one.added, one.removed, one.ranks)
            planned.take_over(batch, added, removed)
            learn(planned)
            changes = replace(changes, ranks=planned.new_ranks())
    write_checked(path, asdict(changes))
    return changes


class Subscriptions:
    """The subscriptions of a registry that join: one in memory as it is now, a durable one live."""

    def __init__(self, registry: AnyRegistry) -> None:
        from penstock.registry.durable import DurableRegistry

        self._live = registry if isinstance(registry, DurableRegistry) else None
        self._frozen = [] if self._live is not None else entries_of(registry.snapshot())

    @property
    def version(self) -> str:
        """What changes when the subscriptions change."""
        if self._live is not None:
            return str(self._live.version)
        return hashlib.blake2b(repr(self._frozen).encode(), digest_size=16).hexdigest()

    def entries(self) -> list[tuple[str, str]]:
        """Return names and programs of the subscriptions that join."""
        return self._frozen if self._live is None else entries_of(self._live.snapshot())

    def since(self, earlier: Iterable[Changes]) -> tuple[tuple[Added, ...], tuple[int, ...]]:
        """Return what was added and what was removed since earlier batches."""
        live: dict[str, Added] = {}
        count = 0
        for changes in earlier:
            live = {name: one for name, one in live.items() if one.number not in changes.removed}
            live |= {one.name: one for one in changes.added}
            count += len(changes.added)
        wanted = dict(self.entries())
        removed = tuple(one.number for name, one in live.items() if wanted.get(name) != one.program)
        gone = set(removed)
        kept = {name for name, one in live.items() if one.number not in gone}
        new = [(name, program) for name, program in wanted.items() if name not in kept]
        added = tuple(Added(number, *entry) for number, entry in enumerate(new, start=count))
        return added, removed


def entries_of(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return names and programs of the subscriptions that join.

    Raises:
        RegistryError: One joins what ``join_stream`` does not.
    """
    requests = joins_of(snapshot, "penstock.spark.join_stream").items()
    return [(name, b64encode(requested.program).decode()) for name, requested in requests]


def _path(folder: str, batch: int) -> Path:
    return Path(folder, CHANGES, f"{batch}.json")
