"""Results in bulk, as Arrow record batches: who found something, and each node once."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from penstock.engine.batches import LINGER_SECONDS
from penstock.engine.feeding import error_row, feed_pieces
from penstock.engine.follower import Followed, Follower
from penstock.errors import DocumentError
from penstock.registry.plans.names import look_up
from penstock.results import Result
from penstock.results.arrow import batch_of, kernel_arrays, kind_names, load_arrow, schema
from penstock.sources import Input, Piece, Source, inputs

if TYPE_CHECKING:
    import pyarrow as pa

DOCUMENTS_MAX = 256
"""Matches are handed out when they are those of this many documents …"""
ROWS_MAX = 1 << 20
"""… or when ``batches`` would make this many rows of them …"""
VALUE_BYTES_MAX = 64 << 20
"""… with this many bytes of values, or when they have waited a moment."""
TOGETHER_MAX = 32
"""So many documents are read at once, up to …"""
TOGETHER_BYTES_MAX = 512 << 10
"""… this many bytes."""

_DOCUMENT = ("document", "stream", "event_time")
_FRAGMENT = ("kind", "name", "value", "start", "end", "bindings")


@dataclass(frozen=True, slots=True)
class Matches:
    """What some documents gave.

    ``entries`` says who found something where: ``document`` is a row of ``documents``,
    ``subscription`` a number that ``names`` names, and ``fragments`` lists rows of ``fragments``;
    a filter lists none. A subscription may have several entries for a document. Lists and
    fragments are shared by all who found the same. ``errors`` are rows as ``batches`` has them.
    """

    documents: pa.RecordBatch
    entries: pa.RecordBatch
    fragments: pa.RecordBatch
    errors: pa.RecordBatch
    names: Sequence[str]

    def subscriptions(self) -> Any:
        """Return the names of the entries' subscriptions, as an Arrow array."""
        return look_up(self.names, self.entries.column("subscription"))


def run_matches(followed: Followed, source: Source) -> Iterator[Matches]:
    """Yield the matches of all documents of a source."""
    load_arrow()
    return _run(followed, source)


def _run(followed: Followed, source: Source) -> Iterator[Matches]:
    with followed as follower:
        waiting = _Waiting(follower)
        for document in inputs(source):
            if follower.is_behind():
                yield from waiting.flush()
                follower.advance()
                waiting = _Waiting(follower)
            waiting.read(document)
            if waiting.is_due:
                yield from waiting.flush()
        yield from waiting.flush()


class _Waiting:
    """Documents whose matches wait in a session."""

    def __init__(self, follower: Follower) -> None:
        self._follower = follower
        self._session = follower.session
        self._names = follower.names
        self._documents: list[Input] = []
        self._errors: list[Result] = []
        self._at_hand: list[tuple[Piece, str | None]] = []
        self._bytes_at_hand = 0
        self._flushed_at = time.monotonic()

    def read(self, document: Input) -> None:
        """Take a document, whose matches wait from then on; those at hand are read together."""
        whole = document.whole()
        if whole is not None:
            if isinstance(whole, memoryview) and not whole.readonly:
                whole = bytes(whole)  # its owner may write the next document into it
            self._documents.append(document)
            self._at_hand.append((whole, document.encoding))
            self._bytes_at_hand += len(whole)
            if len(self._at_hand) == TOGETHER_MAX or self._bytes_at_hand >= TOGETHER_BYTES_MAX:
                self._read_at_hand()
            return
        self._read_at_hand()
        self._session.number_documents(len(self._documents))
        self._documents.append(document)
        fed = feed_pieces(self._session, document, is_trusting=self._follower.is_trusting)
        try:
            with closing(fed) as pieces:
                for _ in pieces:
                    pass
        except DocumentError as error:
            self._errors.append(error_row(error, document))

    def _read_at_hand(self) -> None:
        if self._at_hand:
            number = len(self._documents) - len(self._at_hand)
            for failed, error in self._session.read_in_bulk(self._at_hand, number):
                self._errors.append(error_row(error, self._documents[failed]))
            self._at_hand, self._bytes_at_hand = [], 0

    @property
    def is_due(self) -> bool:
        if len(self._documents) >= DOCUMENTS_MAX:
            return True
        session = self._session
        # What is at hand has given no rows yet.
        is_full = not self._at_hand and (
            session.row_count() >= ROWS_MAX or session.value_bytes() >= VALUE_BYTES_MAX
        )
        return is_full or time.monotonic() - self._flushed_at >= LINGER_SECONDS

    def flush(self) -> Iterator[Matches]:
        """Yield the matches that wait, if there are documents."""
        self._read_at_hand()
        if self._documents:
            documents, errors = self._documents, self._errors
            self._documents, self._errors = [], []
            self._flushed_at = time.monotonic()
            entries, nodes, fragments = self._session.take_found()
            yield Matches(
                _documents(documents),
                _entries(entries, nodes),
                _fragments(fragments),
                batch_of(errors),
                self._names,
            )


def _documents(documents: list[Input]) -> Any:
    import pyarrow as pa

    columns = [
        pa.array([getattr(one, name) for one in documents], schema().field(name).type)
        for name in _DOCUMENT
    ]
    return pa.RecordBatch.from_arrays(columns, names=list(_DOCUMENT))


def _entries(columns: dict[str, Any], nodes: Any) -> Any:
    import pyarrow as pa

    length = columns["length"]

    def numbers(name: str, type_: Any) -> Any:
        data = pa.py_buffer(columns[name])
        # No entry has nodes: filters only.
        return pa.Array.from_buffers(type_, length, [None, data if data.size else _zeros(length)])

    listed = pa.Array.from_buffers(pa.uint32(), len(nodes) // 4, [None, pa.py_buffer(nodes)])
    first, count = numbers("first", pa.int32()), numbers("count", pa.int32())
    arrays = [
        numbers("document", pa.uint32()),
        numbers("subscription", pa.uint32()),
        pa.ListViewArray.from_arrays(first, count, listed),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=_entry_schema())


def _zeros(length: int) -> Any:
    """Return a buffer of at least so many numbers that are 0; all batches share it."""
    import pyarrow as pa

    return pa.py_buffer(_kept_zeros(max(length, ROWS_MAX).bit_length()))


@lru_cache(maxsize=2)
def _kept_zeros(bits: int) -> bytes:
    return bytes(4 << bits)


@cache
def _entry_schema() -> Any:
    import pyarrow as pa

    number = pa.uint32()
    lists = pa.list_view(number)
    return pa.schema([("document", number), ("subscription", number), ("fragments", lists)])


def _fragments(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    found = kernel_arrays(columns)
    found["kind"] = kind_names().take(found["kind"])
    names = ["document", *_FRAGMENT]
    return pa.RecordBatch.from_arrays([found[name] for name in names], names=names)
