"""Queries that gave no row, and the warning about each of them, once."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from penstock.errors import PenstockWarning
from penstock.planning.streams import published_stream, unfed_reason, unfed_streams
from penstock.registry import AnyRegistry, Snapshot
from penstock.results import Heartbeat, Result
from penstock.sources import Input
from penstock.sources.files import FileInput
from penstock.twigs import Query

SUBSCRIPTIONS_MAX = 100
"""Of larger registries it is only said if nothing at all was found."""
_SAMPLES = 3
"""So many documents are remembered whose bytes may be in memory …"""
_FILES = 1000
"""… and so many of which only the path is."""
_SAMPLE_BYTES = 16 << 20
_TEXT_MAX = 200
_WARNINGS_MAX = 10
_QUERIES_KEPT = 10_000

Batch = TypeVar("Batch")

_warned: dict[object, None] = {}
"""What ``evaluate`` has warned of, in order."""


class Silence:
    """The subscriptions of an engine that have given nothing so far."""

    def __init__(self, registry: AnyRegistry, streams: Mapping[str, str] | None = None) -> None:
        self._registry = registry
        self._streams = streams
        """Other names of streams."""
        self._settled: set[str] = set()
        """Those that gave a row, or were warned of."""
        self._has_warned = False
        self._snapshot: Snapshot | None = None
        self._names: set[str] | None = None

    def waiting(self) -> set[str] | None:
        """Return the subscriptions that gave nothing yet; None if there are too many."""
        snapshot = self._registry.snapshot()
        if snapshot is not self._snapshot:
            self._snapshot = snapshot
            self._names = None
            if len(self._registry) <= SUBSCRIPTIONS_MAX:
                self._names = {one.name for one in self._registry if one.mode != "running"}
        return None if self._names is None else self._names - self._settled

    def settle(self, names: Iterable[str | None]) -> None:
        """Take note of subscriptions that gave rows."""
        self._settled.update(name for name in names if name is not None)

    def warn(
        self,
        names: set[str],
        samples: Sequence[Input],
        documents: int,
        fed: Collection[str],
        level: int,
    ) -> None:
        """Warn of subscriptions by name; ``fed`` are the streams that documents were of."""
        self._settled |= names
        if is_ignored():
            return
        where = f"in {documents} document{'' if documents == 1 else 's'}"
        subscriptions = [one for one in self._registry if one.name in names]
        reason_of = _Reasons(samples, documents)
        published = {*filter(None, (published_stream(one.query) for one in self._registry))}
        for one in subscriptions[:_WARNINGS_MAX]:
            query = one.query
            unfed = unfed_streams(query, published | {*fed}, self._streams)
            if unfed:
                way_out = "name it: Document(…, stream=…), or Engine(streams={name: stream})"
                reason = unfed_reason(unfed, fed, way_out)
                _warn(f"the subscription `{one.name}` gave no row {where}", reason, level)
                continue
            reason = reason_of(query)
            # That a filter does not match is an answer, unless its names occur nowhere.
            if one.mode == "filter" and "→" in reason:
                continue
            _warn(f"the subscription `{one.name}` gave no row {where}", reason, level)
        more = len(subscriptions) - _WARNINGS_MAX
        if more > 0:
            _warn(f"{more} further subscriptions gave no row {where}", "", level)

    def warn_of_all(self, documents: int, level: int) -> None:
        """Warn once that no subscription of many gave a row."""
        if not self._has_warned and not is_ignored():
            self._has_warned = True
            count = f"{len(self._registry):,} subscriptions"
            _warn(f"none of {count} gave a row in {documents} documents", "", level)


class Listening:
    """What one run gives, and what it reads."""

    def __init__(self, silence: Silence, only: str | None = None) -> None:
        self._silence = silence
        self._only = only
        """The subscription that is asked for, if it is one."""
        self._waiting: set[str] | None = None
        """The subscriptions without a row so far; None if they are too many to look at."""
        self._samples: list[Input] = []
        self._fed: set[str] = set()
        self._documents = 0
        self._failures = 0
        self._has_rows = False

    def documents(self, items: Iterable[Input | Heartbeat]) -> Iterator[Input | Heartbeat]:
        """Yield what is read; the first documents are remembered while somebody waits."""
        for item in items:
            if isinstance(item, Input):
                self.note(item)
            yield item

    def note(self, document: Input) -> None:
        """Take note of a document that is read."""
        self._documents += 1
        self._fed.add(document.stream)
        most = _FILES if isinstance(document, FileInput) else _SAMPLES
        if self._waiting and len(self._samples) < most:
            self._samples.append(document)

    def rows(self, portions: Iterable[list[Result]], level: int = 4) -> Iterator[list[Result]]:
        """Yield rows; after the last, warn of who got none."""
        self._waiting = self._silence.waiting()
        for rows in portions:
            if rows:
                self._note(rows)
            yield rows
        self._warn(level + 1)

    def batches(self, batches: Iterable[Batch], level: int = 4) -> Iterator[Batch]:
        """Yield the batches of the only subscription; if there was none, warn of it."""
        assert self._only is not None, "the rows of a table are those of one subscription"
        waiting = self._silence.waiting()
        self._waiting = None if waiting is None else waiting & {self._only}
        for batch in batches:
            if not self._has_rows:
                self._has_rows = True
                self._silence.settle([self._only])
                self._waiting = set()
            yield batch
        self._warn(level + 1)

    def _warn(self, level: int) -> None:
        # Documents that failed have rows that say why.
        if self._documents <= self._failures:
            return
        if self._waiting:
            samples = [one for one in (item.again() for item in self._samples) if one is not None]
            self._silence.warn(self._waiting, samples, self._documents, self._fed, level)
        elif self._waiting is None and not self._has_rows:
            self._silence.warn_of_all(self._documents, level)

    def _note(self, rows: list[Result]) -> None:
        if self._waiting:
            found = {row.subscription for row in rows}
            self._waiting.difference_update(found)
            self._silence.settle(found)
        self._has_rows = self._has_rows or any(row.subscription and not row.error for row in rows)
        if any(row.error is not None for row in rows):
            self._failures += sum(row.error is not None and not row.subscription for row in rows)


def warn_of_query(query: Query, read_again: Callable[[], Input | None], level: int = 3) -> None:
    """Warn that a query gave nothing in one document, once for each query."""
    key = (query.text, repr(query.options))
    if key in _warned or is_ignored():
        return
    _warned[key] = None
    while len(_warned) > _QUERIES_KEPT:
        _warned.pop(next(iter(_warned)), None)
    sample = read_again()
    reason = _Reasons([] if sample is None else [sample])(query)
    text = query.text if len(query.text) <= _TEXT_MAX else f"{query.text[: _TEXT_MAX - 1]}…"
    _warn(f"the query {text} gave no row", reason, level)


def is_ignored() -> bool:
    """Return whether nobody wants to know: the reasons need not be found then."""
    for action, message, category, module, _ in warnings.filters:
        if message is None and module is None and issubclass(PenstockWarning, category):
            return action == "ignore"
    return False


class _Reasons:
    """Why queries gave nothing in the same samples."""

    def __init__(self, samples: Sequence[Input], documents: int = 1) -> None:
        # It is rarely needed, and takes a while to load.
        from penstock.engine.diagnosis import Samples

        self._samples = Samples(lambda: samples, _SAMPLE_BYTES, documents=documents)
        self._has_any = bool(samples)

    def __call__(self, query: Query) -> str:
        from penstock.engine.diagnosis import Advice, diagnose

        if not self._has_any:
            return "the documents cannot be read again; `penstock check` looks for the reason"
        found = diagnose(query, self._samples, Advice.PROGRAM)
        return "; ".join(line.strip() for line in found.decisive())


def _warn(what: str, reason: str, level: int) -> None:
    text = f"{what}: {reason}" if reason else what
    warnings.warn(text, PenstockWarning, stacklevel=level + 1)
