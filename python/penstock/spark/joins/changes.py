"""Which subscriptions came and went with which batch, and what their variables are numbered.

A record holds numbers of variables and rows. They follow from the order in which subscriptions
were added, so that order is kept for good, and so are the pairs of variables that drive the search:
by these, records were sent to their buckets. A batch that comes again finds what it found before.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.errors import StateError
from penstock.joins import Subscribers, compile_program
from penstock.kernel import BucketedState
from penstock.languages.xscl import xscl
from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.spark.joins.state import CHANGES, Manifest, State, read_checked, write_checked
from penstock.twigs import Query

Pair = tuple[int, int]
_WAY_OUT = "restore the folder as a whole"


@dataclass(frozen=True, slots=True)
class Added:
    """A subscription as it is written down; its number is its place among all ever added."""

    number: int
    name: str
    language: str
    text: str
    options: Mapping[str, Any]

    def query(self) -> Query:
        """Return the query.

        Raises:
            QueryError: The text is none any more.
        """
        return xscl(self.text, **self.options)


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
    digest: str
    """Of all numbers given so far."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing came and nothing went."""
        return not (self.added or self.removed)


class NumberedSubscribers(Subscribers):
    """Subscriptions with a digest of all changes, which decide what numbers mean."""

    def __init__(self, joins: BucketedState, limits: Limits) -> None:
        super().__init__(joins, limits)
        self._changes = hashlib.blake2b(digest_size=16)

    def add(self, number: int, version: int, name: str, program: bytes) -> None:
        self._changes.update(repr((number, version, program)).encode())
        super().add(number, version, name, program)

    def remove(self, number: int) -> None:
        self._changes.update(repr((number,)).encode())
        super().remove(number)

    def digest(self) -> str:
        """Return the digest of all changes so far."""
        return self._changes.hexdigest()


class Planned:
    """The rows of a state's subscriptions, as every process builds them anew."""

    def __init__(self, limits: Limits, hash_bits: int) -> None:
        self.joins = BucketedState(hash_bits=hash_bits)
        self.subscribers = NumberedSubscribers(self.joins, limits)
        self.applied: tuple[tuple[int, str], ...] = ()
        self._ranks: list[Pair] = []

    def apply(self, changes: Changes) -> None:
        """Take over the changes of a batch and the ranks that were found with them.

        Raises:
            StateError: The numbers are not those that records were written with.
        """
        self.take_over(changes.batch, changes.added, changes.removed, changes.ranks)
        if self.subscribers.digest() != changes.digest:
            message = "the state was made by another version of Penstock, whose records this one "
            raise StateError("PJ0005", message + "cannot read; begin a new stream")
        self.joins.pin(self._ranks)
        self.applied += ((changes.batch, changes.mark),)

    def take_over(
        self,
        batch: int,
        added: Iterable[Added],
        removed: Iterable[int],
        ranks: Iterable[Pair] = (),
    ) -> None:
        """Take over changes, without the ranks taking effect: what is joined is learnt from."""
        self._ranks += ranks
        for number in removed:
            self.subscribers.remove(number)
        for one in added:
            self.subscribers.add(one.number, batch, one.name, compile_program(one.query()))
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
    changes = Changes(batch, uuid4().hex, now_us, subscriptions.version, (), (), (), "")
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
            ranks = planned.new_ranks()
            changes = replace(changes, ranks=ranks, digest=planned.subscribers.digest())
    write_checked(path, asdict(changes))
    return changes


class Subscriptions:
    """The subscriptions of a registry that join: one in memory as it is now, a durable one live."""

    def __init__(self, registry: AnyRegistry) -> None:
        from penstock.registry.durable import DurableRegistry

        self._live = registry if isinstance(registry, DurableRegistry) else None
        self._frozen = [] if self._live is not None else _entries(registry)

    @property
    def version(self) -> str:
        """What changes when the subscriptions change."""
        if self._live is not None:
            return str(self._live.version)
        return hashlib.blake2b(repr(self._frozen).encode(), digest_size=16).hexdigest()

    def since(self, earlier: Iterable[Changes]) -> tuple[tuple[Added, ...], tuple[int, ...]]:
        """Return what was added and what was removed since earlier batches."""
        live: dict[str, Added] = {}
        count = 0
        for changes in earlier:
            live = {name: one for name, one in live.items() if one.number not in changes.removed}
            live |= {one.name: one for one in changes.added}
            count += len(changes.added)
        wanted = dict(self._frozen if self._live is None else _entries(self._live))
        removed = tuple(one.number for name, one in live.items() if wanted.get(name) != _entry(one))
        gone = set(removed)
        kept = {name for name, one in live.items() if one.number not in gone}
        new = [(name, entry) for name, entry in wanted.items() if name not in kept]
        added = tuple(
            Added(number, name, *entry) for number, (name, entry) in enumerate(new, start=count)
        )
        return added, removed


_Entry = tuple[str, str, Mapping[str, Any]]
"""Language, text and options of a query."""


def _entries(registry: AnyRegistry) -> list[tuple[str, _Entry]]:
    made = []
    for name, query in registry.joining().items():
        if query.language != "xscl" or not query.text:
            raise ValueError(f"the query of `{name}` has no text to be kept; make it with xscl()")
        # As JSON gives it back, so that what was written and what is there compare.
        options = json.loads(json.dumps(dict(query.options)))
        made.append((name, (query.language, query.text, options)))
    return made


def _entry(one: Added) -> _Entry:
    return one.language, one.text, one.options


def _path(folder: str, batch: int) -> Path:
    return Path(folder, CHANGES, f"{batch}.json")
