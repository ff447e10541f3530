"""A registry that lives as long as the process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from operator import attrgetter
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from penstock.errors import RegistryError
from penstock.planning.modes import Mode
from penstock.planning.records import JoinOutput, is_publishing
from penstock.registry.circles import refuse_circle, without_circles
from penstock.registry.lines import CompiledChunk, CompiledLine, LineError, subscription_of
from penstock.registry.live import LivePlan, Row
from penstock.registry.load import Lines, LoadReport, Watch, compiled_chunks, told
from penstock.registry.standing import Standing, StandingChanges, StandingLog
from penstock.registry.subscriptions import (
    Delivery,
    Snapshot,
    Subscription,
    compile_subscription,
)
from penstock.twigs import Query

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry


class Registry:
    """Subscriptions by name: in memory, or in a folder with ``Registry.open(path)``.

    ``version`` grows by one with every change. Engines see a change from their next document on.
    It may be used from several threads.
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._standing = StandingLog()
        self._version = 0
        self._snapshot: Snapshot | None = None
        self._serials = count(1)
        self._lock = RLock()
        self._live = LivePlan(self._lock, self._rows_between)
        self._undo: list[Callable[[], None]] | None = None

    @staticmethod
    def open(path: str | os.PathLike[str], *, flush: bool = True) -> DurableRegistry:
        """Return the registry that is kept in a folder, which is made if it is missing.

        Every change is flushed to the disk before it returns, which costs what the disk takes.
        Without ``flush`` it is safe from a crash of the process, and a power cut may undo the
        last changes, never part of one.

        Raises:
            RegistryError: What is there is no registry, or cannot be read.
        """
        from penstock.registry.durable import DurableRegistry

        return DurableRegistry(path, flush=flush)

    @property
    def version(self) -> int:
        """A number that grows by one with every change."""
        return self._version

    def add(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Delivery | None = None,
    ) -> Subscription:
        """Add a subscription; a ``str`` is taken as XPath without namespaces.

        Raises:
            QueryError: The query is not one, or not one that is evaluated.
            RegistryError: The name is taken, or is no name; the mode is none; what it publishes
                would come back to it.
        """
        subscription = compile_subscription(name, query, mode, owner, delivery)
        self._refuse_circle(subscription)
        self._add(subscription)
        return subscription

    def replace(
        self,
        name: str,
        query: Query | str,
        mode: Mode = "query",
        owner: str | None = None,
        delivery: Delivery | None = None,
    ) -> Subscription:
        """Put a subscription in the place of the one that has its name.

        Raises:
            QueryError: The query is not one, or not one that is evaluated.
            RegistryError: There is no subscription of that name; the mode is none.
        """
        subscription = compile_subscription(name, query, mode, owner, delivery)
        self._refuse_circle(subscription)
        self._replace(subscription)
        return subscription

    def remove(self, name: str) -> None:
        """Remove a subscription.

        Raises:
            RegistryError: There is none of that name.
        """
        with self._lock:
            entry = self._entry(name)
            self._drop(name)
            self._change(lambda: self._keep(entry))

    def load(
        self,
        source: Lines,
        *,
        replace: bool = False,
        workers: int | None = None,
        watch: Watch | None = None,
        on_error: Callable[[LineError], None] | None = None,
    ) -> LoadReport:
        """Add the subscriptions of a file, one to a line, and report what became of the lines.

        The source is the path of a CSV file (``.csv``) or of lines of JSON, or such lines. A bad
        line is told and left out; the others are loaded all together or, if the load is cut
        short, not at all. A name that is taken is an error of its line, unless ``replace`` puts
        the line in its place. As many processes compile as there are cores, or ``workers``; 0
        compiles here. ``watch`` is called now and then with the report so far.

        Raises:
            OSError: The file cannot be read.
            RegistryError: The first line of a CSV file does not name columns.
        """
        report = LoadReport()
        compiled = compiled_chunks(source, report, workers)
        told_chunks = told(compiled, report, watch, on_error)
        chunks = without_circles(told_chunks, self._publishers(), report)
        self._load_chunks(chunks, report, replace)
        return report

    def _load_chunks(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, replace: bool
    ) -> None:
        with self.changes():
            for chunk in chunks:
                for number, line in zip(chunk.numbers, chunk.rows, strict=True):
                    self._load_line(number, line, report, replace)

    def _load_line(
        self, number: int, line: CompiledLine, report: LoadReport, replace: bool
    ) -> None:
        subscription = subscription_of(line)
        is_new = line.name not in self
        if is_new:
            self._add(subscription)
            report.added += 1
        elif replace:
            self._replace(subscription)
            report.replaced += 1
        else:
            report.note(LineError.of(number, name_is_taken(line.name)))

    @contextmanager
    def changes(self) -> Iterator[None]:
        """Make the changes inside the block together: an exception undoes them all.

        Each still counts as one version. In a durable registry this is also much faster than
        one change after the other.
        """
        with self._lock:
            version, outer, done = self._version, self._undo, list[Callable[[], None]]()
            self._undo = done
            try:
                yield
            except BaseException:
                for undo in reversed(done):
                    undo()
                in_order = sorted(self._entries.items(), key=lambda item: item[1].place)
                self._entries, self._version, self._snapshot = dict(in_order), version, None
                raise
            else:
                if outer is not None:
                    outer += done
            finally:
                self._undo = outer

    def get(self, name: str) -> Subscription | None:
        """Return the subscription of a name, or None."""
        entry = self._entries.get(name)
        return None if entry is None else entry.subscription

    def snapshot(self) -> Snapshot:
        """Return the current version with its plan, which is made once and shared.

        It costs what changed since the last one. While plans are merged in the background, there
        may be several snapshots of one version; they say the same.
        """
        with self._lock:
            if self._snapshot is None:
                self._snapshot = Snapshot(self._version, *self._live.plan())
                self._live.merge_in_background(self._forget_snapshot)
            return self._snapshot

    def compact(self) -> Snapshot:
        """Return a snapshot whose plan is one piece, as if all had been added at once.

        This happens by itself, bit by bit. It is for those who pass the plan on.
        """
        with self._lock:
            self._live.compact()
            self._snapshot = Snapshot(self._version, *self._live.plan())
            return self._snapshot

    def branch(self) -> LivePlan:
        """Return the current plan for somebody in the middle of a document; it gets all changes."""
        with self._lock:
            return self._live.branch()

    def joining(self) -> Mapping[str, Query]:
        """Return the queries that join documents, by the names of their subscriptions."""
        with self._lock:
            joining = [self._entries[name].subscription for name in self._standing]
        return {one.name: one.query for one in joining}

    def joining_since(self, read: int) -> StandingChanges:
        """Return which subscriptions that join documents changed since somebody read last."""
        with self._lock:
            return self._standing.since(read)

    def is_joining(self) -> bool:
        """Return whether some subscription joins documents."""
        return len(self._standing) > 0

    def __iter__(self) -> Iterator[Subscription]:
        return iter([entry.subscription for entry in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __repr__(self) -> str:
        return f"<Registry of {len(self)} subscriptions, version {self.version}>"

    def _add(self, subscription: Subscription) -> None:
        with self._lock:
            if subscription.name in self._entries:
                raise name_is_taken(subscription.name)
            self._keep(_Entry(self._version, 0, subscription))
            self._change(lambda: self._drop(subscription.name))

    def _replace(self, subscription: Subscription) -> None:
        with self._lock:
            entry = self._entry(subscription.name)
            self._live.remove(entry.serial)
            self._keep(entry._replace(subscription=subscription))
            self._change(lambda: self._restore(entry))

    def _refuse_circle(self, subscription: Subscription) -> None:
        if is_publishing(subscription.program):
            refuse_circle(subscription.name, subscription.program, self._publishers())

    def _publishers(self) -> Mapping[str, JoinOutput]:
        """Return what becomes of the results of all who publish them."""
        with self._lock:
            return dict(self._standing.publishers)

    def _entry(self, name: str) -> _Entry:
        if name not in self._entries:
            raise name_is_unknown(name)
        return self._entries[name]

    def _keep(self, entry: _Entry) -> None:
        """Put a subscription, old or new, under a serial of its own."""
        entry = entry._replace(serial=next(self._serials))
        name, program = entry.subscription.name, entry.subscription.program
        self._entries[name] = entry
        is_joining = entry.subscription.is_joining
        self._standing.put(name, Standing(entry.place, program) if is_joining else None)
        self._live.add(Row(entry.serial, name, program))

    def _drop(self, name: str) -> None:
        self._live.remove(self._entries.pop(name).serial)
        self._standing.put(name, None)

    def _restore(self, entry: _Entry) -> None:
        self._live.remove(self._entries[entry.subscription.name].serial)
        self._keep(entry)

    def _change(self, undo: Callable[[], None]) -> None:
        self._version += 1
        self._snapshot = None
        if self._undo is not None:
            self._undo.append(undo)

    def _forget_snapshot(self) -> None:
        with self._lock:
            self._snapshot = None

    def _rows_between(self, first: int, last: int) -> Iterable[Row]:
        entries = list(self._entries.values())
        chosen = (entry for entry in entries if first <= entry.serial <= last)
        ordered = sorted(chosen, key=attrgetter("serial"))
        return (Row(one.serial, one.subscription.name, one.subscription.program) for one in ordered)


class _Entry(NamedTuple):
    """A subscription, its place among the others, and its serial for the plan."""

    place: int
    serial: int
    subscription: Subscription


def name_is_taken(name: str) -> RegistryError:
    """Return the error for a second subscription of one name."""
    message = f"there is a subscription `{name}` already; replace() changes it"
    return RegistryError("PR0001", message)


def name_is_unknown(name: str) -> RegistryError:
    """Return the error for a name that nothing has."""
    return RegistryError("PR0002", f"there is no subscription `{name}`")
