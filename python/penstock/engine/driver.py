"""The driver: the loop that reads documents with a session and takes what they decide."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from penstock import logs
from penstock.engine.binding import Binder
from penstock.engine.follower import Fixed, Follower
from penstock.engine.joining import Joining
from penstock.engine.rows import blamed, error_row
from penstock.engine.suspension import Strikes, Suspensions
from penstock.errors import DocumentError, EvaluationError
from penstock.kernel import (
    BUNDLE_BYTES_MAX,
    JOIN_BATCH_ROWS_MAX,
    Batch,
    Session,
    WholeDocument,
)
from penstock.results import Heartbeat, Result
from penstock.results.documents import microseconds_of
from penstock.sources import Input, Piece
from penstock.sources.packs import Pack


@dataclass(frozen=True, slots=True)
class Pace:
    """When a portion is taken: as soon as one of the bounds is reached.

    The default is after every piece of input. Small documents are read in bundles, up to the
    bounds of a bundle; ``with_times`` is whether rows need ``decided_at``. If ``is_prompt``, a
    portion that is full is taken in the middle of a document, and an error ends its portion;
    otherwise a document's rows stay together, unless they are too many. With ``rejects`` they
    always do, and a document that fails has none: the session holds, and is charged for, the rows
    of the document under way.
    """

    rows_max: int = 0
    value_bytes_max: int = 0
    documents_max: int = 1
    linger_seconds: float = 0.0
    bundle_documents_max: int = 1
    bundle_bytes_max: int = BUNDLE_BYTES_MAX
    with_times: bool = True
    is_prompt: bool = True
    rejects: bool = False


EACH_PIECE = Pace()

_JOINED_BYTES_MAX = 4 << 20
"""Joined rows of one portion have about so many characters of values at most."""


class Portion(NamedTuple):
    """What was decided since the last portion.

    Rows of the batch, and errors, have the numbers of their documents. ``joined`` are rows of
    joins, and of what kept a document from being joined.
    """

    documents: Sequence[Input]
    session: Session
    names: Sequence[str]
    batch: Batch
    errors: Sequence[tuple[int, DocumentError]]
    joined: Sequence[Result]
    is_open: bool = False
    """Whether the last document goes on, with the same number in the next portion."""

    def error_rows(self) -> list[Result]:
        """Return the rows of errors."""
        return [error_row(error, self.documents[number]) for number, error in self.errors]

    def further_rows(self) -> list[Result]:
        """Return the rows that are not in the batch: those of errors, then those of joins."""
        return [*self.error_rows(), *self.joined]


class Driver:
    """Reads documents one after the other, for all who evaluate a plan over a source.

    A change of the registry takes effect between two documents, and an error ends its document
    alone. Documents up to a bound that are at hand are read as a whole, others in pieces.
    """

    def __init__(
        self,
        follower: Follower | Fixed,
        pace: Pace,
        joining: Joining | None = None,
        suspensions: Suspensions | None = None,
        binder: Binder | None = None,
    ) -> None:
        self._follower = follower
        self._binder = binder
        self._strikes = None if suspensions is None else Strikes(suspensions)
        self._session = follower.session
        self._pace = pace
        self._joining = joining
        self._documents: list[Input] = []
        """By number; those before ``_joined`` have been joined."""
        self._joined = 0
        self._errors: list[tuple[int, DocumentError]] = []
        self._bundle: list[tuple[Input, WholeDocument]] = []
        """Documents that are not read yet."""
        self._bundle_bytes = 0
        self._due_at = time.monotonic() + pace.linger_seconds

    def run(self, items: Iterable[Input | Pack | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide, in portions. A pack has portions of its own."""
        yield from self.read(items)
        yield from self.end()

    def end(self) -> Iterator[Portion]:
        """Yield what waited in joins for a partner."""
        if self._joining is not None:
            yield from self._joined_alone(self._joining.end())
        if self._binder is not None:
            yield from self._joined_alone(self._binder.end())

    def read(self, items: Iterable[Input | Pack | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide; others may follow."""
        self._follow()
        follower = self._follower
        for item in items:
            if follower.is_behind():
                yield from self._flush()
                follower.advance()
                self._follow()
            if isinstance(item, Heartbeat):
                yield from self._advance(item)
                continue
            if isinstance(item, Pack):
                yield from self._read_pack(item)
                continue
            whole = item.whole()
            if whole is None:
                yield from self._read_bundle()
                yield from self._feed(item)
            elif self._hold(item, whole):
                continue
            else:
                yield from self._read_bundle()
            if self._is_due(len(self._documents)):
                yield from self._take(self._documents)
        yield from self._flush()

    def _advance(self, heartbeat: Heartbeat) -> Iterator[Portion]:
        if self._joining is not None:
            yield from self._flush()
            time_us = microseconds_of(heartbeat.event_time)
            yield from self._joined_alone(self._joining.advance(time_us))
        if self._binder is not None:
            yield from self._flush()
            time_us = microseconds_of(heartbeat.event_time)
            yield from self._joined_alone(self._binder.advance(time_us))

    def _follow(self) -> None:
        """Let joins read what the follower's subscriptions ask for."""
        if self._binder is not None:
            self._binder.follow(self._follower.snapshot)
        if self._joining is not None:
            self._session.listen(self._joining.follow())

    def _hold(self, document: Input, whole: Piece) -> bool:
        """Put a document into the bundle; return whether it waits there for others."""
        pace, bundle = self._pace, self._bundle
        bundle.append((document, (whole, document.encoding, document.stream)))
        self._bundle_bytes += len(whole)
        is_open = len(bundle) < pace.bundle_documents_max
        is_open = is_open and self._bundle_bytes < pace.bundle_bytes_max
        is_open = is_open and len(self._documents) + len(bundle) < pace.documents_max
        return is_open and time.monotonic() < self._due_at

    def _read_bundle(self) -> Iterator[Portion]:
        """Read the documents that wait; yield what has to be taken before the last of them."""
        while self._bundle:
            first = len(self._documents)
            bundle = [whole for _, whole in self._bundle]
            count, errors = self._session.read(bundle, first, with_times=self._pace.with_times)
            self._errors += errors
            self._documents += [document for document, _ in self._bundle[:count]]
            self._bundle = self._bundle[count:]
            if self._bundle:
                document, _ = self._bundle.pop(0)
                yield from self._feed(document)
        self._bundle_bytes = 0

    def _read_pack(self, pack: Pack) -> Iterator[Portion]:
        yield from self._flush()
        pace, start, end = self._pace, 0, 0
        while end < len(pack):
            bundle = pack.bundle(end, pace.bundle_documents_max, pace.bundle_bytes_max)
            count, errors = self._session.read_adjacent(
                bundle, end - start, with_times=pace.with_times
            )
            self._errors += errors
            end += count
            if count < len(bundle):
                if end > start:
                    yield from self._take(pack[start:end])
                yield from self._feed(pack[end])
                yield from self._flush()
                start = end = end + 1
            elif end == len(pack) or self._is_due(end - start):
                yield from self._take(pack[start:end])
                start = end

    def _feed(self, document: Input) -> Iterator[Portion]:
        session, number = self._session, len(self._documents)
        self._documents.append(document)
        if not self._pace.is_prompt:
            document.keep()  # its error row may be asked for after the next document
        try:
            pieces = document.pieces()
            for is_full in session.read_pieces(pieces, document.encoding, document.stream, number):
                if self._pace.rejects:
                    continue
                if is_full or (self._pace.is_prompt and self._is_full()):
                    yield from self._take(self._documents, is_open=True)
                if self._follower.is_trusting and session.is_decided():
                    return
        except DocumentError as error:
            self._errors.append((number, blamed(error, session, self._follower.names)))

    def _is_full(self) -> bool:
        session, pace = self._session, self._pace
        return session.row_count() >= pace.rows_max or session.value_bytes() >= pace.value_bytes_max

    def _is_due(self, document_count: int) -> bool:
        pace = self._pace
        if document_count >= pace.documents_max or (pace.is_prompt and self._errors):
            return True
        return self._is_full() or time.monotonic() >= self._due_at

    def _flush(self) -> Iterator[Portion]:
        yield from self._read_bundle()
        if self._documents:
            yield from self._take(self._documents)

    def _take(self, documents: Sequence[Input], is_open: bool = False) -> Iterator[Portion]:
        """Take a portion; if ``is_open``, the last document goes on, with the same number.

        Joins that give more rows than one portion has get further portions.
        """
        yield from self._hand_out(self._session.take(), documents, is_open)

    def _hand_out(
        self, batch: Batch, documents: Sequence[Input], is_open: bool
    ) -> Iterator[Portion]:
        ended = range(self._joined, len(documents) - is_open)
        failed = dict(self._errors)
        if self._pace.rejects and failed:
            batch.drop_documents(sorted(failed))
        errors = self._with_failing(ended)
        # What a document gave before its error comes before it.
        yield from self._joined_alone(self._bind(documents, ended, failed, batch))
        joined = self._join(documents, ended, failed, batch)
        for number, error in errors:
            logs.engine.info("the document %s failed: %s", documents[number].document, error)
        self._errors = []
        if is_open:
            self._joined = ended.stop
        else:
            self._documents, self._joined = [], 0
        self._due_at = time.monotonic() + self._pace.linger_seconds
        yield self._portion(documents, batch, errors, next(joined, []), is_open)
        yield from self._joined_alone(joined)

    def _with_failing(self, ended: range) -> list[tuple[int, DocumentError]]:
        """Return the errors of documents, and of subscriptions that failed alone, by document."""
        failing = [
            (number, name, error)
            for number, subscription, failure in self._take_failing()
            for name, error in self._failures(subscription, failure)
        ]
        if not failing and (self._strikes is None or self._strikes.is_idle):
            return self._errors
        errors = self._errors + [
            (number, error.of_subscription(name)) for number, name, error in failing
        ]
        if self._strikes is not None:
            # An error of evaluation is due to the document, and costs nothing.
            passed = [one for one in failing if not isinstance(one[2], EvaluationError)]
            errors += self._strikes.count(passed, ended)
        return sorted(errors, key=itemgetter(0))

    def _failures(self, subscription: int, error: DocumentError) -> list[tuple[str, DocumentError]]:
        """Return who failed; what gathers bindings may do so for several subscriptions."""
        names = self._follower.names
        if subscription < len(names) or self._binder is None:
            return [(names[subscription], error)]
        side = subscription - len(names)
        joined = self._binder.names_of(self._follower.snapshot, side)
        return [(name, copy(error)) for name in joined]

    def _take_failing(self) -> list[tuple[int, int, DocumentError]]:
        return self._session.take_failing()

    def _joined_alone(self, joined: Iterator[Sequence[Result]]) -> Iterator[Portion]:
        """Yield joined rows as portions of their own."""
        for rows in joined:
            yield self._portion((), self._session.take(), (), rows)

    def _bind(
        self,
        documents: Sequence[Input],
        numbers: range,
        errors: Mapping[int, DocumentError],
        batch: Batch,
    ) -> Iterator[Sequence[Result]]:
        """Return the rows of bindings that documents have; the batch has none of them then."""
        binder = self._binder
        if binder is None or binder.is_idle:
            return iter(())
        joined = binder.join(self._follower.snapshot, documents, batch)
        for number, error in errors.items():
            count = binder.count(documents[number])
            if count:
                error.after_bindings(count)
        ends = (rows for number in numbers for rows in binder.end_document(documents[number]))
        return chain(joined, ends)

    def _join(
        self,
        documents: Sequence[Input],
        numbers: range,
        errors: Mapping[int, DocumentError],
        batch: Batch,
    ) -> Iterator[list[Result]]:
        """Yield the rows of joining documents, in lists of bounded size."""
        if self._joining is None or self._joining.is_idle:
            return
        witnesses = dict(batch.witnesses())
        rows: list[Result] = []
        value_bytes = 0
        for number in numbers:
            if number in errors:
                completed = self._joining.pass_by(documents[number])
            else:
                completed = self._joining.finish(documents[number], witnesses.get(number))
            for further in completed:
                rows += further
                value_bytes += sum(len(row.value or "") for row in further)
                if len(rows) >= JOIN_BATCH_ROWS_MAX or value_bytes >= _JOINED_BYTES_MAX:
                    yield rows
                    rows, value_bytes = [], 0
        yield rows

    def _portion(
        self,
        documents: Sequence[Input],
        batch: Batch,
        errors: Sequence[tuple[int, DocumentError]],
        joined: Sequence[Result],
        is_open: bool = False,
    ) -> Portion:
        names = self._follower.names
        return Portion(documents, self._session, names, batch, errors, joined, is_open)
