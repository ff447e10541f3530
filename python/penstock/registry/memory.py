"""A registry in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from operator import attrgetter
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock import logs
from penstock.errors import RegistryError
from penstock.planning.records import JoinOutput, is_publishing, output_of
from penstock.registry.changeable import ChangeableRegistry
from penstock.registry.loading.lines import CompiledChunk, LineError
from penstock.registry.loading.load import LoadReport
from penstock.registry.plans.live import Branch, LivePlan
from penstock.registry.plans.tiers import PlannedSubscription
from penstock.registry.subscriptions import (
    Snapshot,
    Subscription,
    name_is_taken,
    name_is_unknown,
)

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry


class MemoryRegistry(ChangeableRegistry):
    """Subscriptions by name, in memory; ``penstock.Registry`` is its public name.

    ``Registry.open(path)`` returns a durable one. ``version`` grows by one with every change.
    Engines see a change from their next document on. It may be used from several threads.

    >>> import penstock
    >>> registry = penstock.Registry()
    >>> _ = registry.add("cheap", "//book[price < 11]/title")
    >>> registry["cheap"].query
    <Query xpath: //book[price < 11]/title>
    >>> "dear" in registry, len(registry), registry.version
    (False, 1, 1)
    """

    def __init__(self) -> None:
        self._entries: dict[str, _Entry] = {}
        self._publishing: dict[str, JoinOutput] = {}
        self._version = 0
        self._snapshot: Snapshot | None = None
        self._serials = count(1)
        self._lock = RLock()
        self._live = LivePlan(self._lock, self._read_between)
        self._undo: list[Callable[[], None]] | None = None

    @staticmethod
    def open(
        path: str | os.PathLike[str], *, create: bool = True, flush: bool = True
    ) -> DurableRegistry:
        """Return the registry of a folder, which is created if it is missing.

        Every change is flushed to the disk before it returns. Without ``flush`` changes survive a
        crash of the process, but a power cut may undo the last ones, never part of one.

        >>> import penstock, tempfile
        >>> folder = tempfile.mkdtemp()
        >>> _ = penstock.Registry.open(folder).add("cheap", "//book[price < 11]")
        >>> [one.name for one in penstock.Registry.open(folder, create=False)]
        ['cheap']

        Raises:
            RegistryError: The folder holds something else, cannot be read, or lies in an object
                store; with ``create=False`` also if there is none.
        """
        from penstock.registry.durable import DurableRegistry
        from penstock.registry.storage.folder import folder_of
        from penstock.registry.storage.opening import is_registry

        if not create and not is_registry(folder_of(path)):
            raise RegistryError("PR0005", f"there is no registry in {os.fspath(path)}")
        return DurableRegistry(path, flush=flush)

    @property
    def version(self) -> int:
        return self._version

    def remove(self, name: str) -> None:
        with self._lock:
            entry = self._entry(name)
            self._drop(name)
            self._change(lambda: self._keep(entry))
        logs.registry.debug("removed %s", name)

    def _insert(
        self, chunks: Iterable[CompiledChunk], report: LoadReport, is_replacing: bool
    ) -> None:
        with self.changes():
            for chunk in chunks:
                for number, line in zip(chunk.numbers, chunk.lines, strict=True):
                    if line.name not in self._entries:
                        self._add(line.subscription())
                        report.added += 1
                    elif is_replacing:
                        self._replace(line.subscription())
                        report.replaced += 1
                    else:
                        report.note(LineError.of(number, name_is_taken(line.name)))

    @contextmanager
    def changes(self) -> Iterator[None]:
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
        entry = self._entries.get(name)
        return None if entry is None else entry.subscription

    def snapshot(self) -> Snapshot:
        """Return the current version with its plan, which is built once and shared."""
        with self._lock:
            if self._snapshot is None:
                self._snapshot = Snapshot(self._version, *self._live.plan())
                self._live.merge_in_background(self._forget_snapshot)
            return self._snapshot

    def compact(self) -> Snapshot:
        with self._lock:
            self._live.compact()
            self._snapshot = Snapshot(self._version, *self._live.plan())
            return self._snapshot

    def branch(self) -> Branch:
        with self._lock:
            return self._live.branch()

    def __iter__(self) -> Iterator[Subscription]:
        return iter([entry.subscription for entry in self._entries.values()])

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __repr__(self) -> str:
        return f"<Registry of {len(self)} subscriptions, version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        message = "a registry in memory is of one process and is not copied or pickled; "
        raise TypeError(message + "Registry.open(path) returns one that other processes can open")

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

    def _publishers(self) -> Mapping[str, JoinOutput]:
        with self._lock:
            return dict(self._publishing)

    def _entry(self, name: str) -> _Entry:
        if name not in self._entries:
            raise name_is_unknown(name)
        return self._entries[name]

    def _keep(self, entry: _Entry) -> None:
        """Put a subscription, old or new, in place under a new serial."""
        entry = entry._replace(serial=next(self._serials))
        name, program = entry.subscription.name, entry.subscription.program
        self._entries[name] = entry
        self._publishing.pop(name, None)
        if is_publishing(program):
            self._publishing[name] = output_of(program)
        self._live.add(entry.planned)

    def _drop(self, name: str) -> None:
        self._live.remove(self._entries.pop(name).serial)
        self._publishing.pop(name, None)

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

    def _read_between(self, first: int, last: int) -> Iterable[PlannedSubscription]:
        chosen = [entry for entry in self._entries.values() if first <= entry.serial <= last]
        chosen.sort(key=attrgetter("serial"))
        return (entry.planned for entry in chosen)


class _Entry(NamedTuple):
    """A subscription, its place among the others, and its serial for the plan."""

    place: int
    serial: int
    subscription: Subscription

    @property
    def planned(self) -> PlannedSubscription:
        """The subscription as the plan takes it."""
        name, program = self.subscription.name, self.subscription.program
        return PlannedSubscription(self.serial, self.place, name, program)
