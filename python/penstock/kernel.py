"""The kernel: plans and sessions, the only importer of the native module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock import _native
from penstock.errors import DocumentError, LimitError
from penstock.limits import Limits

if TYPE_CHECKING:
    from typing_extensions import Buffer  # part of every type checker, of Python from 3.12 on

Plan = _native.Plan
PlanBuilder = _native.PlanBuilder
Column = _native.Column
read_record = _native.read_record
"""What a record of witnesses says: nodes (start, end, value), bindings, edges."""
witness_columns = _native.witness_columns
"""The witnesses of several records as columns of three tables."""
event_ordinal = _native.event_ordinal
"""The ordinal of an event, made of the ids of its documents and of its nodes."""
merge_runs = _native.merge_runs
"""One image of several, without what is not needed any more."""
read_run = _native.read_run
"""What an image holds: records, when the last may go, and until when the first one waits."""

CHUNK_BYTES = 256 << 10
"""Input is fed in pieces of this size: large enough to be fast, small enough to stay in cache."""


class Session:
    """Evaluates a plan over documents, one after the other, fed in pieces of any size.

    Rows decided before an error can still be taken after it, and ``begin`` starts the next
    document as if nothing had happened. A session that is live may go on with another plan in the
    middle of a document.
    """

    def __init__(
        self,
        plan: Plan,
        limits: Limits | None = None,
        *,
        in_document_order: bool = False,
        in_parts: bool = False,
        is_traced: bool = False,
        is_live: bool = False,
        cache_bytes_max: int = 32 << 20,
        questions_min: int | None = None,
    ) -> None:
        self._native = _native.Session(
            plan,
            (limits or Limits()).as_dict(),
            in_document_order=in_document_order,
            in_parts=in_parts,
            is_traced=is_traced,
            is_live=is_live,
            cache_bytes_max=cache_bytes_max,
            questions_min=questions_min,
        )
        self.adopt = self._native.adopt
        self.row_count = self._native.row_count
        self.value_bytes = self._native.value_bytes
        self.take_rows = self._native.take_rows
        self.take_columns = self._native.take_columns
        self.take_spans = self._native.take_spans
        self.take_usage = self._native.take_usage
        self.held_by_subscription = self._native.held_by_subscription
        self.take_found = self._native.take_found
        self.is_decided = self._native.is_decided
        self.structures = self._native.structures
        self.number_documents = self._native.number_documents
        self.take_trace = self._native.take_trace
        self.entities = self._native.entities

    def attach(self, plan: Plan) -> None:
        """Go on with another plan in the middle of a document.

        What stays in the plan goes on as it was. What is new knows the names and the attributes
        of the elements that are open, and everything from the next start tag on.

        Raises:
            LimitError: The document passed a limit.
        """
        _raise(self._native.attach(plan))

    def begin(self, encoding: str | None = None) -> None:
        """Start a document; ``encoding`` overrides what the document says of itself.

        Raises:
            DocumentError: The encoding is unknown.
        """
        _raise(self._native.begin(encoding))

    def feed(self, chunk: Buffer) -> None:
        """Read the next bytes of the document.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document.
            LimitError: The document passed a limit.
        """
        _raise(self._native.feed(chunk))

    def finish(self) -> None:
        """End the document: what was undecided is decided now.

        Raises:
            DocumentError: The document is not complete.
            LimitError: The document passed a limit.
        """
        _raise(self._native.finish())

    def read(self, document: Buffer, encoding: str | None = None) -> None:
        """Read a document that is at hand as a whole.

        The rows are those of ``begin``, ``feed`` and ``finish``. With many subscriptions they are
        found faster, and all of them at the end.

        Raises:
            DocumentError: The document is not well-formed, or the encoding is unknown.
            LimitError: The document passed a limit.
        """
        _raise(self._native.read(document, encoding))

    def read_documents(
        self, data: Buffer, offsets: Sequence[int]
    ) -> list[tuple[int, DocumentError]]:
        """Read whole documents, ``data[offsets[i]:offsets[i + 1]]``, without a call for each.

        Their rows carry the number i in the column ``document``. Returns the errors by number;
        a bad document never harms the next one.
        """
        failures = self._native.read_documents(data, offsets)
        return [(number, _error(failure)) for number, failure in failures]

    def read_in_bulk(
        self,
        documents: Sequence[tuple[Buffer, str | None]],
        number: int,
        *,
        with_times: bool = False,
    ) -> list[tuple[int, DocumentError]]:
        """Read whole documents, bytes and encoding, several at once where that is faster.

        Rows carry numbers from ``number`` on. Without times they have no ``decided_at`` and are
        meant for ``take_found``. Returns the errors by number; a bad document never harms the
        next one.
        """
        failures = self._native.read_in_bulk(documents, number, with_times=with_times)
        return [(failed, _error(failure)) for failed, failure in failures]

    def statistics(self) -> Statistics:
        """Return the session's counters so far."""
        return Statistics(*self._native.statistics())


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counters of a session, over all its documents."""

    states_built: int
    cache_clears: int
    steps: int
    """Facts, climbs and passes: the work that is not constant per event."""
    held: int
    """Candidates held now."""
    kept_bytes: int
    """Bytes of input kept now."""


class Joins:
    """The joins of all subscriptions over streams of documents, and the records they may need.

    Subscriptions are programs here; ``penstock.joins`` writes them. What it offers beside the
    methods below is what the native class offers.
    """

    def __init__(self, limits: Limits | None = None, **options: Any) -> None:
        native = _native.Joins((limits or Limits()).as_dict(), **options)
        self._native = native
        self.variable = native.variable
        self.delay_stream = native.delay_stream
        self.add = native.add
        self.remove = native.remove
        self.delay_of = native.delay_of
        self.admit = native.admit
        self.advance = native.advance
        self.push = native.push
        self.release = native.release
        self.end = native.end
        self.result_count = native.result_count
        self.take = native.take
        self.is_over_memory = native.is_over_memory
        self.seal = native.seal
        self.attach = native.attach
        self.take_dropped = native.take_dropped
        self.pin = native.pin
        self.ranked = native.ranked
        self.enter = native.enter
        self.route = native.route
        self.report_alone = native.report_alone
        self.queue = native.queue
        self.push_queued = native.push_queued
        self.take_partials = native.take_partials
        self.write_run = native.write_run
        self.release_run = native.release_run
        self.depth = native.depth
        self.is_damaged = native.is_damaged

    def begin(self, stream: str, encoding: str | None = None) -> None:
        """Start a document of a stream.

        Raises:
            DocumentError: The encoding is unknown.
        """
        _raise(self._native.begin(stream, encoding))

    def feed(self, chunk: Buffer) -> None:
        """Read the next bytes of the document.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document.
            LimitError: The document passed a limit.
        """
        _raise(self._native.feed(chunk))

    def finish(self, number: int, document: str, time_us: int, version: int) -> bytes:
        """End the document and return its record, empty if nothing in it joins.

        Raises:
            DocumentError: The document is not complete.
            LimitError: The document passed a limit.
        """
        record, failure = self._native.finish(number, document, time_us, version)
        _raise(failure)
        return record

    def statistics(self) -> JoinStatistics:
        """Return the counters so far."""
        return JoinStatistics(**self._native.statistics())


@dataclass(frozen=True, slots=True)
class JoinStatistics:
    """Counters of joins."""

    documents: int
    records: int
    """Documents and partial matches kept now."""
    memory_bytes: int
    rows: int
    """Distinct rows that somebody asks for."""
    shapes: int
    waiting: int
    """Left sides that wait for their window to pass."""
    pairs: int
    """Pairs of variables that rows join."""
    nodes: int
    """Nodes of the trie of rows."""
    variables: int
    edges: int
    steps: int
    """Distinct steps of the paths to variables."""
    formulas: int
    """Distinct conditions of those steps."""
    tests: int
    steps_taken: int
    """How often a step was looked up in a document so far."""


TracedEvent = tuple[int, list[tuple[int, int, int]], list[int]]
"""Offset just past an event; (subscription, start, end) of what it decided; starts held after it.

An atomic value has start and end -1.
"""


def trace(
    programs: Sequence[bytes],
    document: bytes,
    chunk_bytes: int = CHUNK_BYTES,
    limits: Limits | None = None,
) -> list[TracedEvent]:
    """Return what every event of a document did, for oracles.

    Events are starts, texts, comments, instructions, ends and the end of the document. Held are
    the candidates that are not decided.

    Raises:
        DocumentError: The document is not well-formed.
    """
    plan = Plan.build(programs)
    session = Session(plan, limits, is_traced=True)
    session.begin()
    for start in range(0, len(document), chunk_bytes):
        session.feed(document[start : start + chunk_bytes])
    session.finish()
    spans = {(row[0], row[8]): (row[5], row[6]) for row in session.take_rows()[0]}
    atom = (-1, -1)
    return [
        (
            offset,
            [
                (subscription, *(atom if node is None else spans.get((subscription, node), atom)))
                for target, node in decided
                for subscription in plan.subscriptions(target)
            ],
            [start for _, start in held],
        )
        for offset, decided, held in session.take_trace()
    ]


def tokenize(data: Buffer, chunk_bytes: int = CHUNK_BYTES, limits: Limits | None = None) -> int:
    """Return the number of events of a document: the tokenizer alone, nobody listening.

    Raises:
        DocumentError: The document is not well-formed.
        LimitError: The document passed a limit.
    """
    events, failure = _native.count_events(data, chunk_bytes, (limits or Limits()).as_dict())
    _raise(failure)
    return events


def _raise(failure: _native._Failure | None) -> None:
    if failure is not None:
        raise _error(failure)


def _error(failure: _native._Failure) -> DocumentError:
    code, reason, byte, line, path, limit = failure
    if limit is None:
        return DocumentError(code, reason, byte, line, path)
    return LimitError(code, reason, byte, line, path, limit=limit)
