"""The kernel: plans and sessions, the only importer of the native module."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock import _native
from penstock.errors import CancelledError, DocumentError, EvaluationError, LimitError
from penstock.limits import Limits

if TYPE_CHECKING:
    from typing_extensions import Buffer  # part of every type checker, of Python from 3.12 on

Plan = _native.Plan
PlanBuilder = _native.PlanBuilder
Columns = _native.Columns
"""Columns that ``pyarrow.record_batch`` takes over without a copy."""
Batch = _native.Batch
"""What a session decided between two takes: rows in one of several forms, and witnesses."""
Joins = _native.Joins
"""The joins of all subscriptions, wherever records are; ``penstock.joins`` writes programs."""
JoinState = _native.JoinState
"""Joins whose records are all here, in memory and in segments."""
ProgressiveJoin = _native.ProgressiveJoin
"""A join of bindings of several streams within a memory budget."""
Mender = _native.Mender
"""Reads a document ahead of others and hands on what is well-formed around its records."""
Cutter = _native.Cutter
"""Finds where documents begin that stand one after the other."""
Feeder = _native.Feeder
"""Feeds such a join with what sessions gathered, and makes rows of its tuples."""
Gathered = _native.Gathered
"""The bindings of a batch."""
MessageRows = _native.MessageRows
"""Rows of messages that were put together; they have one form, the first that is asked for."""
BucketedState = _native.BucketedState
"""Joins whose records are divided by value into buckets, one of which is here at a time."""
Witness = _native.Witness
"""What joins ask for, found in one document; ``Joins.record`` makes a record of it."""
read_record = _native.read_record
"""What a record of witnesses says: nodes (start, end, value), bindings, edges."""
witness_columns = _native.witness_columns
"""The witnesses of several records as three tables: nodes, bindings and edges."""
event_ordinal = _native.event_ordinal
"""The ordinal of an event, made of the ids of its documents and of its nodes."""
merge_segments = _native.merge_segments
"""One segment of several, without what is not needed any more."""
read_segment = _native.read_segment
"""What a segment holds: records, when the last may go, and until when the first one waits."""
Surroundings = _native.Surroundings
"""What a fragment needs to stand alone: declarations in scope, and internal entities."""
ends_in_cdata = _native.ends_in_cdata
"""Whether a piece of an element ends inside a CDATA section; the next one begins there."""
ValueTest = _native.ValueTest
"""A test of string values against a constant."""
Router = _native.Router
"""The queries of servers, answered from headers of one configuration."""
write_header = _native.write_header
"""The header of a document from the rows of its views."""
read_header = _native.read_header
"""What a header says, or why it says nothing."""
header_part = _native.header_part
"""The element of a view, with the namespaces in scope, if its parts may be parsed."""
escape = _native.escape
"""Text as content of an element."""
quote = _native.quote
"""Text as the value of an attribute, with its quotes."""

WholeDocument = tuple["Buffer", str | None, str]
"""Bytes, encoding if it overrides what the document says of itself, and stream."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Documents in one buffer, which stays as it is, each from one bound to the next."""

    data: Buffer
    bounds: list[int]
    encoding: str | None
    """It overrides what the documents say of themselves."""
    streams: Sequence[str] | None
    """Those of the documents, if they matter."""

    def __len__(self) -> int:
        return len(self.bounds) - 1


WHOLE_BYTES_MAX = _native.WHOLE_BYTES_MAX
"""Larger documents are read in pieces, so that what they decide early comes early."""
BUNDLE_BYTES_MAX = _native.BUNDLE_BYTES_MAX
"""Small documents are read together up to this size …"""
BUNDLE_DOCUMENTS_MAX = _native.BUNDLE_DOCUMENTS_MAX
"""… and so many at most."""
JOIN_STATE_BYTES_MAX = _native.JOIN_STATE_BYTES_MAX
"""Bytes of state that joins keep in memory, unless somebody says otherwise."""
JOIN_BATCH_ROWS_MAX = _native.JOIN_BATCH_ROWS_MAX
"""Results that joins hand out at once, likewise."""
"""Views that joins keep, likewise."""
ALONE = Surroundings({}, {})
"""The surroundings of what stands alone as it is."""
CHUNK_BYTES = 256 << 10
"""Input is fed in pieces of this size: large enough to be fast, small enough to stay in cache."""


class Session:
    """Evaluates a plan over documents, one after the other.

    Rows decided before an error can still be taken after it. A document that begins finds nothing
    of an earlier one, however that one ended. What waits to be taken has the numbers of documents:
    a number is used again only when the rows of its document were taken, or dropped by ``clear``.
    A session that is live may go on with another plan in the middle of a
    document.
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
        streams: Mapping[str, str] | None = None,
    ) -> None:
        limits = limits or Limits()
        self._native = _native.Session(
            plan,
            limits,
            limits.seconds_max,
            in_document_order=in_document_order,
            in_parts=in_parts,
            is_traced=is_traced,
            is_live=is_live,
            cache_bytes_max=cache_bytes_max,
            questions_min=questions_min,
            streams=list((streams or {}).items()),
        )

    def adopt(self, plan: Plan) -> None:
        """Go on with another plan from the next document on; take rows that wait before."""
        self._native.adopt(plan)

    def attach(self, plan: Plan) -> None:
        """Go on with another plan in the middle of a document.

        What stays in the plan goes on as it was. What is new knows the names and the attributes
        of the elements that are open, and everything from the next start tag on.

        Raises:
            LimitError: The document passed a limit.
        """
        raise_failure(self._native.attach(plan))

    def tier_states(self) -> bytes:
        """By tier: 0 if its numbers stay, 1 if it stays, 2 if it may become part of another."""
        return self._native.tier_states()

    def merge(self, plan: Plan, place: int, numbers: Sequence[int]) -> bool:
        """Go on with another plan, whose tier at a place takes over from those no longer there.

        Its subscriptions had these numbers. Return False, and change nothing, if one of those is
        not 2 in ``tier_states``.

        Raises:
            LimitError: The document passed a limit.
        """
        is_merged, failure = self._native.merge(plan, place, numbers)
        raise_failure(failure)
        return is_merged

    def listen(self, joins: Joins | None) -> None:
        """Keep the witnesses of joins for ``Batch.witnesses``, from the next document on.

        Subscriptions of the joins may change between documents.
        """
        self._native.listen(None if joins is None else joins.paths())

    def begin(self, encoding: str | None = None, stream: str = "default", number: int = 0) -> None:
        """Start a document, whose rows carry ``number``.

        ``encoding`` overrides what the document says of itself; ``stream`` matters to joins.

        Raises:
            DocumentError: The encoding is unknown.
        """
        raise_failure(self._native.begin(encoding, stream, number))

    def feed(self, chunk: Buffer) -> None:
        """Read the next bytes of the document.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document.
            LimitError: The document passed a limit.
        """
        place = 0
        while place < len(chunk):  # type: ignore[arg-type]  # every buffer of bytes has a length
            place = self.feed_some(chunk, place)

    def feed_some(self, chunk: Buffer, start: int = 0) -> int:
        """Read the next bytes from a place of a chunk on; return where to go on.

        That is before its end where so many rows wait that they should be taken.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document.
            LimitError: The document passed a limit.
        """
        place, failure = self._native.feed(chunk, start)
        raise_failure(failure)
        return place

    def finish(self) -> None:
        """End the document: what was undecided is decided now.

        Raises:
            DocumentError: The document is not complete.
            LimitError: The document passed a limit.
        """
        raise_failure(self._native.finish())

    def abandon(self) -> None:
        """End a document whose bytes cannot be had any more; rows that are finished stay.

        After ``finish``, or an error, there is nothing to end.
        """
        self._native.abandon()

    def clear(self) -> None:
        """End the document under way, drop all that waits, and take back ``interrupt``."""
        self._native.clear()

    def read_pieces(
        self,
        pieces: Iterable[Buffer],
        encoding: str | None = None,
        stream: str = "default",
        number: int = 0,
    ) -> Iterator[bool]:
        """Read a document, and yield after each piece of it; stopping early abandons it.

        What is yielded is whether the piece is not at its end: then rows should be taken.

        Raises:
            DocumentError: The document is not well-formed, or its bytes cannot be read.
            LimitError: The document passed a limit.
        """
        self.begin(encoding, stream, number)
        try:
            for piece in pieces:
                place, end = 0, len(piece)  # type: ignore[arg-type]
                while place < end:
                    place = self.feed_some(piece, place)
                    yield place < end
            self.finish()
        finally:
            self.abandon()

    def read(
        self, documents: Sequence[WholeDocument], first: int = 0, *, with_times: bool = True
    ) -> tuple[int, list[tuple[int, DocumentError]]]:
        """Read whole documents, whose rows carry numbers from ``first`` on.

        The rows are those of ``begin``, ``feed`` and ``finish``. Many subscriptions are evaluated
        over several documents at once, faster if ``decided_at`` may be missing (``with_times``).
        Returns how many were read, and the errors by number; a bad document never harms the next
        one. The first that has too many rows to be read as a whole is not read, and none behind
        it: it has to be read in pieces.
        """
        count, failures = self._native.read(documents, first, with_times=with_times)
        return count, [(number, error_of(failure)) for number, failure in failures]

    def read_adjacent(
        self, bundle: Bundle, first: int = 0, *, with_times: bool = True
    ) -> tuple[int, list[tuple[int, DocumentError]]]:
        """Read whole documents that lie behind each other, without an object for each.

        All else is as in ``read``.
        """
        count, failures = self._native.read_adjacent(
            bundle.data,
            bundle.bounds,
            first,
            bundle.encoding,
            bundle.streams,
            with_times=with_times,
        )
        return count, [(number, error_of(failure)) for number, failure in failures]

    def read_whole(self, document: Buffer) -> None:
        """Read one document that is at hand; if it fails, nothing of it waits to be taken.

        Raises:
            DocumentError: The document is not well-formed.
            LimitError: The document passed a limit.
        """
        try:
            count, errors = self.read([(document, None, "default")])
            for _, error in errors:
                raise error
            if not count:  # its rows are many, and all of them are wanted
                deque(self.read_pieces([document]), 0)
        except DocumentError:
            self.clear()
            raise

    def interrupt(self) -> None:
        """Stop what is under way, from any thread: it raises ``CancelledError`` until ``clear``."""
        self._native.interrupt()

    def suspend(self, subscriptions: Sequence[int]) -> None:
        """Give these subscriptions nothing from the next document on, and others their rows."""
        self._native.suspend(list(subscriptions))

    def blamed(self) -> int | None:
        """Return who caused most of the work, if the last document was stopped by a limit."""
        return self._native.blamed()

    def take_failing(self) -> list[tuple[int, int, DocumentError]]:
        """Return documents and subscriptions that failed there alone, since the last call."""
        return [
            (document, subscription, error_of(failure))
            for document, subscription, failure in self._native.take_failing()
        ]

    def take(self) -> Batch:
        """Return what was decided since the last call."""
        return self._native.take()

    def row_count(self) -> int:
        """Return how many rows wait to be taken."""
        return self._native.row_count()

    def value_bytes(self) -> int:
        """Return how many bytes of values wait to be taken."""
        return self._native.value_bytes()

    def is_decided(self) -> bool:
        """Return whether the rest of the document that is fed adds nothing, whatever it is."""
        return self._native.is_decided()

    def take_usage(self, before: Plan | None = None) -> list[tuple[int, int, int, float]]:
        """Return subscription, matches, seconds of the last one and cost since the last call.

        Given the plan that is adopted next, these are the subscriptions alone whose numbers are no
        longer theirs in it; all others are told of later.
        """
        return self._native.take_usage(before)

    def held_by_subscription(self) -> list[tuple[int, int]]:
        """Return subscriptions with bytes held now; a subscription may come several times."""
        return self._native.held_by_subscription()

    def statistics(self) -> Statistics:
        """Return the session's counters so far."""
        return Statistics(*self._native.statistics())

    def structures(self) -> list[tuple[int, int]]:
        """Return, by tier, how many queries read whole documents and how many read events."""
        return self._native.structures()

    def messages_made(self) -> dict[str, tuple[int, int]]:
        """Return distinct programs and subscriptions of listeners for messages, by what they make:
        ``messages``, ``tables`` or ``bindings``. What the broker serves is not among them.
        """
        made = self._native.messages_made()
        return {kind: (programs, subscriptions) for kind, programs, subscriptions in made}

    def take_trace(self) -> list[tuple[int, list[tuple[int, int | None]], list[tuple[int, int]]]]:
        """Return, by event, its offset, decided (target, node) and held (node, start)."""
        return self._native.take_trace()

    def broker_counts(self) -> dict[str, int]:
        """Return what the broker holds once for all queries that it serves, by what it is.

        Without a broker there is nothing.
        """
        return dict(self._native.broker_counts())

    def entities(self) -> dict[str, str]:
        """Return the internal entities that the document has declared so far."""
        return self._native.entities()


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
    bytes_tokenized: int
    """Bytes of input that were split into tokens: those of the documents, each once."""
    path_steps: int
    """How often a step of a path to a join's variable was looked up in a document."""


@dataclass(frozen=True, slots=True)
class JoinStatistics:
    """Counters of joins."""

    documents: int
    records: int
    """Documents and partial matches kept now."""
    memory_bytes: int
    rows: int  # distinct ones
    shapes: int
    waiting: int
    """Left sides that wait for their window to pass."""
    pairs: int
    """Pairs of variables that rows join."""
    nodes: int  # of the trie of rows
    variables: int
    edges: int
    steps: int
    """Distinct steps of the paths to variables."""
    formulas: int
    """Distinct conditions of those steps."""
    tests: int


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
    starts = range(0, len(document), chunk_bytes)
    for _ in session.read_pieces(document[start : start + chunk_bytes] for start in starts):
        pass  # the trace has it all
    spans = {(row[0], row[8]): (row[5], row[6]) for row in session.take().rows()[0]}
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
    events, failure = _native.count_events(data, chunk_bytes, limits or Limits())
    raise_failure(failure)
    return events


def raise_failure(failure: _native._Failure | None) -> None:
    if failure is not None:
        raise error_of(failure)


def error_of(failure: _native._Failure) -> DocumentError:
    """Return what the kernel says of a failure as an error."""
    code, reason, byte, line, path, limit, xquery_code = failure
    if code == CancelledError.code:
        raise CancelledError(reason)
    if xquery_code is not None:
        return EvaluationError(code, reason, byte, line, path, xquery_code=xquery_code)
    if limit is None:
        return DocumentError(code, reason, byte, line, path)
    return LimitError(code, reason, byte, line, path, limit=limit)
