"""Which subscriptions came and went with which batch, and what their variables are numbered.

A record holds numbers of variables and rows. They follow from the order in which subscriptions
were added, so that order is kept for good, and so are the pairs of variables that drive the search:
by these, records were sent to their buckets. A batch that comes again finds what it found before.
"""

from __future__ import annotations

import hashlib
import time
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

from penstock.limits import Limits
from penstock.registry import AnyRegistry
from penstock.registry.subscriptions import Snapshot
from penstock.spark.joins.planned import Added, Pair, Planned
from penstock.spark.joins.requested import all_joined
from penstock.spark.joins.state import CHANGES, Manifest, State, read_checked, write_checked

GONE_MIN = 64
"""So many subscriptions have to be gone, and half of all, before they are left out of the list."""
_WAY_OUT = "restore the folder as a whole"


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
    is_whole: bool = False
    """Whether nothing before is needed: all subscriptions are added here, with their numbers."""
    count: int = 0
    """How many subscriptions there ever were, where not all of them are written down."""
    vacant: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """The numbers that new variables and rows get, likewise."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing came and nothing went."""
        return not (self.added or self.removed)


def apply(planned: Planned, changes: Changes) -> None:
    """Take over the changes of a batch and the ranks that were found with them.

    Raises:
        StateError: Another version of Penstock wrote them.
    """
    _take_over(planned, changes)
    planned.pin()
    planned.applied += ((changes.batch, changes.mark),)


def _take_over(planned: Planned, changes: Changes) -> None:
    planned.take_over(changes.batch, changes.added, changes.removed, changes.ranks)
    if changes.is_whole:
        planned.joins.vacate(*changes.vacant)


def read_changes(folder: str, batch: int) -> Changes:
    """Return the changes of a batch.

    Raises:
        StateError: They are missing or damaged.
    """
    entry = read_checked(_path(folder, batch), _WAY_OUT)
    return Changes(
        **entry
        | {
            "added": tuple(_added(one) for one in entry["added"]),
            "removed": tuple(entry["removed"]),
            "ranks": tuple((left, right) for left, right in entry["ranks"]),
            "vacant": tuple(map(tuple, entry.get("vacant", ((), ())))),
        }
    )


def _added(entry: dict[str, Any]) -> Added:
    numbers = {name: tuple(entry.get(name, ())) for name in ("variables", "rows")}
    return Added(**entry | numbers)


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
                _take_over(planned, one)
            planned.take_over(batch, added, removed)
            # Numbers are as they will be: what is joined below changes none of them.
            whole = _whole(changes, earlier, planned)
            learn(planned)
            ranks = planned.new_ranks()
            changes = replace(changes, ranks=ranks)
            if whole is not None:
                changes = replace(whole, ranks=(*planned.ranks, *ranks))
    write_checked(path, asdict(changes))
    return changes


def _whole(changes: Changes, earlier: Sequence[Changes], planned: Planned) -> Changes | None:
    """Return changes that stand for all before them; None if few that are gone are written down.

    What a record says are numbers of variables and rows, so those who stay keep theirs.
    """
    every = [*earlier, changes]
    removed = {number for one in every for number in one.removed}
    listed = [(one, own.batch) for own in every for one in own.added]
    live = [(one, batch) for one, batch in listed if one.number not in removed]
    gone = len(listed) - len(live)
    if gone < GONE_MIN or gone < len(live):
        return None
    variables, rows = planned.joins.vacant()
    return replace(
        changes,
        added=tuple(planned.numbered(one, batch) for one, batch in live),
        removed=(),
        is_whole=True,
        count=_count(every),
        vacant=(tuple(variables), tuple(rows)),
    )


def _count(every: Iterable[Changes]) -> int:
    """Return how many subscriptions there ever were."""
    count = 0
    for changes in every:
        count = changes.count if changes.is_whole else count + len(changes.added)
    return count


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
        live = self._live
        return self._frozen if live is None else entries_of(live.snapshot())

    def since(self, earlier: Iterable[Changes]) -> tuple[tuple[Added, ...], tuple[int, ...]]:
        """Return what was added and what was removed since earlier batches."""
        live: dict[str, Added] = {}
        earlier = [*earlier]
        count = _count(earlier)
        for changes in earlier:
            live = {name: one for name, one in live.items() if one.number not in changes.removed}
            live |= {one.name: one for one in changes.added}
        wanted = dict(self.entries())
        removed = tuple(one.number for name, one in live.items() if wanted.get(name) != one.program)
        gone = set(removed)
        kept = {name for name, one in live.items() if one.number not in gone}
        new = [(name, program) for name, program in wanted.items() if name not in kept]
        added = tuple(Added(number, *entry) for number, entry in enumerate(new, start=count))
        return added, removed


def entries_of(snapshot: Snapshot) -> list[tuple[str, str]]:
    """Return names and programs of the subscriptions that join documents, or bindings of them."""
    return _encoded(all_joined(snapshot))


def _encoded(programs: Mapping[str, bytes]) -> list[tuple[str, str]]:
    return [(name, b64encode(program).decode()) for name, program in programs.items()]


def _path(folder: str, batch: int) -> Path:
    return Path(folder, CHANGES, f"{batch}.json")
