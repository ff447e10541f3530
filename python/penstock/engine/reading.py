"""The reader: the one loop from documents to what they decide."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from penstock import logs
from penstock.engine.follower import Fixed, Follower
from penstock.engine.rows import blamed, error_row, log_failure
from penstock.engine.stages import NO_JOINS, JoinStages, Mark, Rows, Taken
from penstock.engine.suspension import Strikes, Suspensions
from penstock.errors import DocumentError, EvaluationError
from penstock.kernel import BUNDLE_BYTES_MAX, Batch, Session, WholeDocument
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
    ended: Sequence[Input] = ()
    """The documents that have given all their rows."""

    def error_rows(self) -> list[Result]:
        """Return the rows of errors."""
        return [error_row(error, self.documents[number]) for number, error in self.errors]

    def further_rows(self) -> list[Result]:
        """Return the rows that are not in the batch: those of errors, then those of joins."""
        return [*self.error_rows(), *self.joined]


class Reader:
    """Reads documents with a session, and takes what they decide.

    Documents come one after the other, whole or in pieces (``read``), or are pushed: ``begin``,
    ``push``, ``finish``. A change of the registry takes effect between two documents, and an
    error ends its document alone. Each iterator has to be read to its end before the next call.

    Events that joins publish are documents, too: ``beside`` gives the reader that reads them.

    A reader under a schema has ``other``, which reads the documents that come in pieces. If the
    schema is checked (``is_checked``), it also reads those that break it: nothing of a portion is
    handed out before its documents are checked.
    """

    def __init__(
        self,
        follower: Follower | Fixed,
        pace: Pace,
        joins: JoinStages = NO_JOINS,
        suspensions: Suspensions | None = None,
        other: Reader | None = None,
        beside: Callable[[], Reader] | None = None,
        *,
        is_checked: bool = False,
    ) -> None:
        self._follower = follower
        self._session = follower.session
        self._pace = pace
        self._joins = joins
        self._marks: Sequence[Mark] = ()
        self._strikes = None if suspensions is None else Strikes(suspensions)
        self._other = other
        self._beside = beside
        self._is_checked = is_checked
        self._documents: list[Input] = []
        """By number; those before ``_ended`` have been handed to joins."""
        self._ended = 0
        self._errors: list[tuple[int, DocumentError]] = []
        self._bundle: list[tuple[Input, WholeDocument]] = []
        """Documents that are not read yet."""
        self._bundle_bytes = 0
        self._due_at = time.monotonic() + pace.linger_seconds
        self.has_failed = False
        """Whether the document that is pushed has failed."""

    def run(self, items: Iterable[Input | Pack | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide, in portions. A pack has portions of its own."""
        yield from self.read(items)
        yield from self.end()

    def end(self) -> Iterator[Portion]:
        """Yield what waited in joins for a partner."""
        yield from self._alone(self._joins.end())

    def read(self, items: Iterable[Input | Pack | Heartbeat]) -> Iterator[Portion]:
        """Yield what the documents decide; others may follow."""
        self._follow()
        follower, joins = self._follower, self._joins
        for item in items:
            if joins.is_halted:
                break
            if follower.is_behind():
                yield from self._flush()
                follower.advance()
                self._follow()
            if isinstance(item, Heartbeat):
                if joins.stages:
                    yield from self._flush()
                    yield from self.beat(item)
                continue
            if isinstance(item, Pack):
                yield from self._read_pack(item)
                continue
            whole = item.whole()
            if whole is None:
                yield from self._read_bundle()
                yield from self._read_pieces(item)
            elif self._hold(item, whole):
                continue
            else:
                yield from self._read_bundle()
            if self._documents and self._is_due(len(self._documents)):
                yield from self._take(self._documents)
        yield from self._flush()

    def begin(self, document: Input) -> None:
        """Start a document that is pushed; what has changed in the registry takes effect."""
        if self._follower.is_behind():
            self._follower.advance()
        self._follow()
        self._begin(document)

    def push(self, piece: Piece) -> Iterator[Portion]:
        """Yield what the next bytes decide; what follows an error is skipped."""
        place, end = 0, len(piece)
        while place < end and not self.has_failed:
            try:
                self._follower.attach()
                place = self._session.feed_some(piece, place)
            except DocumentError as error:
                self.fail(error)
            else:
                if self._pace.rejects:
                    continue
                if place < end or (self._pace.is_prompt and self._is_full()):
                    yield from self._take(self._documents, is_open=True)

    def fail(self, error: DocumentError) -> None:
        """Let the document end with an error, that of its source or its own."""
        if not self.has_failed:
            self.has_failed = True
            self._session.abandon()
            error = blamed(error, self._session, self._follower.names)
            self._errors.append((len(self._documents) - 1, error))

    def end_document(self) -> None:
        """End the document that is pushed, which may fail only now."""
        if not self.has_failed:
            try:
                self._session.finish()
            except DocumentError as error:
                self.fail(error)

    def finish(self) -> Iterator[Portion]:
        """Yield what the document that is pushed decided with its end."""
        return self._take(self._documents)

    @property
    def is_halted(self) -> bool:
        """Whether nothing more is read."""
        return self._joins.is_halted

    def beat(self, heartbeat: Heartbeat) -> Iterator[Portion]:
        """Yield what is complete once event time has come to a heartbeat."""
        yield from self._alone(self._joins.advance(microseconds_of(heartbeat.event_time)))

    def _follow(self) -> None:
        """Let joins read what the follower's subscriptions ask for."""
        if self._joins.stages:
            assert isinstance(self._follower, Follower), "joins follow a registry"
            self._marks = self._joins.follow(self._follower)

    def _begin(self, document: Input) -> None:
        number = len(self._documents)
        self._documents.append(document)
        self.has_failed = False
        try:
            self._session.begin(document.encoding, document.stream, number)
        except DocumentError as error:
            self.fail(error)

    def _hold(self, document: Input, whole: Piece) -> bool:
        """Put a document into the bundle; return whether it waits there for others."""
        pace, bundle = self._pace, self._bundle
        read = (whole, document.encoding, document.stream)
        if self._is_checked and not isinstance(document, Reread):
            document = Reread(document, read)
        bundle.append((document, read))
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
                yield from self._read_pieces(document)
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
                yield from self._read_pieces(pack[end])
                yield from self._flush()
                start = end = end + 1
            elif end == len(pack) or self._is_due(end - start):
                yield from self._take(pack[start:end])
                start = end

    def _read_pieces(self, document: Input) -> Iterator[Portion]:
        if self._other is not None:
            if self._documents:
                yield from self._take(self._documents)
            yield from self._other.read([document])
            return
        self._begin(document)
        # Whether a document is well-formed is known at its end.
        is_trusting = self._follower.is_trusting and not self._pace.rejects
        if not self._pace.is_prompt:
            document.keep()  # its error row may be asked for after the next document
        try:
            for piece in () if self.has_failed else document.pieces():
                yield from self.push(piece)
                if self.has_failed or (is_trusting and self._session.is_decided()):
                    break
            else:
                self.end_document()
        except DocumentError as error:
            self.fail(error)
        finally:
            self._session.abandon()

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
        """Take a portion; if ``is_open``, the last document goes on, with the same number."""
        batch, failing = self._session.take(), self._session.take_failing()
        if self._is_checked:
            first = len(self._follower.names)
            broken = {number for number, one, _ in failing if one >= first}
            broken.update(batch.documents_from(first))
            if broken:
                self._follower.discount(batch)
                return self._read_again(documents, broken)
        return self._hand_out(batch, failing, documents, is_open)

    def _read_again(self, documents: Sequence[Input], broken: set[int]) -> Iterator[Portion]:
        """Read documents once more, those that break the schema without it."""
        waiting, self._bundle = self._bundle, []
        self._errors, self._documents, self._ended = [], [], 0
        for is_broken, group in groupby(range(len(documents)), broken.__contains__):
            run = [documents[number] for number in group]
            if is_broken:
                for one in run:
                    logs.engine.info("the document %s breaks its schema", one.document)
            reader = self._other if is_broken and self._other is not None else self
            yield from reader.read(run)
        self._bundle = waiting

    def _hand_out(
        self,
        batch: Batch,
        failing: Sequence[tuple[int, int, DocumentError]],
        documents: Sequence[Input],
        is_open: bool,
    ) -> Iterator[Portion]:
        """Yield a portion. Joins that give more rows than one portion has get further ones."""
        if self._pace.rejects and self._errors:
            batch.drop_documents(sorted({number for number, _ in self._errors}))
        numbers = range(self._ended, len(documents) - is_open)
        failed, errors = self._errors, self._with_failing(failing, numbers)
        for number, error in errors:
            log_failure(documents[number], error)
        self._errors = []
        if is_open:
            self._ended = numbers.stop
        else:
            self._documents, self._ended = [], 0
        self._due_at = time.monotonic() + self._pace.linger_seconds
        session, names = self._session, self._follower.names
        ended = documents[numbers.start : numbers.stop]
        if self._joins.is_idle:
            yield Portion(documents, session, names, batch, errors, (), is_open, ended)
            return
        taken = Taken(documents, numbers, dict(failed), batch)
        with self._joins.lock:
            before, joined = self._joins.take(self._marks, taken)
            yield from self._alone(before)
            rows = next(joined, ())
            others = chain(self._published(), self._alone(joined))
            further = next(others, None)
            if further is None:
                yield Portion(documents, session, names, batch, errors, rows, is_open, ended)
                return
            yield Portion(documents, session, names, batch, errors, rows, is_open)
            portion = further
            for further in others:
                yield portion
                portion = further
            if portion.session is not session:  # of published events
                yield portion
                portion = Portion((), session, names, session.take(), (), ())
            yield portion._replace(ended=ended)

    def _with_failing(
        self, failing: Sequence[tuple[int, int, DocumentError]], ended: range
    ) -> list[tuple[int, DocumentError]]:
        """Return the errors of documents, and of subscriptions that failed alone, by document."""
        alone = [
            (number, name, error)
            for number, subscription, failure in failing
            for name, error in self._failures(subscription, failure)
        ]
        if not alone and (self._strikes is None or self._strikes.is_idle):
            return self._errors
        errors = self._errors + [
            (number, error.of_subscription(name)) for number, name, error in alone
        ]
        if self._strikes is not None:
            # An error of evaluation is due to the document, and costs nothing.
            passed = [one for one in alone if not isinstance(one[2], EvaluationError)]
            errors += self._strikes.count(passed, ended)
        return sorted(errors, key=itemgetter(0))

    def _failures(self, subscription: int, error: DocumentError) -> list[tuple[str, DocumentError]]:
        """Return who failed; what gathers bindings may do so for several subscriptions."""
        names = self._follower.names
        if subscription < len(names):
            return [(names[subscription], error)]
        return [(name, copy(error)) for name in self._follower.joined_by(subscription)]

    def _alone(self, joined: Rows) -> Iterator[Portion]:
        """Yield joined rows as portions of their own, each before what its events decide."""
        names = self._follower.names
        for rows in joined:
            yield Portion((), self._session, names, self._session.take(), (), rows)
            yield from self._published()

    def _published(self) -> Iterator[Portion]:
        """Yield what the events decide that the last rows of joins have published."""
        events = [*self._joins.published()]
        if events:
            assert self._beside is not None, "joins that publish have a reader beside"
            for portion in self._beside().read(events):
                # A run counts the documents that it was given.
                yield portion._replace(ended=())


class Reread(Input):
    """A document that may be read again, with the bytes that it had."""

    def __init__(self, document: Input, whole: WholeDocument) -> None:
        super().__init__(document.document, document.stream, document.event_time)
        self._read = document
        self._data, self.encoding, _ = whole

    def whole(self) -> Piece:
        return self._data  # type: ignore[return-value]  # a piece that was read as a whole

    def again(self) -> Input | None:
        return self._read.again()

    def pieces(self) -> Iterator[Piece]:
        yield self.whole()

    def original(self) -> bytes | None:
        return self._read.original()
