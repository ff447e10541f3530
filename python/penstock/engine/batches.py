"""Rows as Arrow record batches, made of the kernel's columns without touching a row."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from penstock.engine.feeding import error_row, feed
from penstock.engine.follower import Followed, Follower
from penstock.errors import DocumentError
from penstock.kernel import Column
from penstock.registry.plans.names import look_up
from penstock.results import Result
from penstock.results.arrow import batch_of, kernel_arrays, kind_names, load_arrow, schema
from penstock.sources import Input, Source, inputs

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_MAX = 16 << 10
"""A batch is handed out when it has this many rows …"""
VALUE_BYTES_MAX = 4 << 20
"""… or this many bytes of values …"""
LINGER_SECONDS = 0.05
"""… or when a document ends and the last batch is this long ago."""

_KEPT_ROWS_MIN = 1 << 10


def batch_rows(steps: Iterator[list[Result]]) -> Iterator[pa.RecordBatch]:
    """Yield rows that are Python objects already as record batches."""
    for rows in steps:
        if rows:
            yield batch_of(rows)


def run_batches(followed: Followed, source: Source) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all documents of a source in batches."""
    load_arrow()
    return _run(followed, source)


def _run(followed: Followed, source: Source) -> Iterator[pa.RecordBatch]:
    with followed as follower:
        waiting = _Waiting(follower)
        for document in inputs(source):
            if follower.is_behind():
                yield from waiting.flush()
                follower.advance()
                waiting = _Waiting(follower)
            yield from _read(follower, waiting, document)
        yield from waiting.flush()


def _read(follower: Follower, waiting: _Waiting, document: Input) -> Iterator[pa.RecordBatch]:
    failure: DocumentError | None = None
    fed = feed(follower.session, document, is_trusting=follower.is_trusting)
    with closing(fed) as pieces:
        while failure is None:
            try:
                next(pieces)
            except StopIteration:
                break
            except DocumentError as error:
                failure = error
            if waiting.is_full:
                waiting.note(document)
                yield from waiting.flush()
    waiting.note(document)
    if failure is not None:
        yield from waiting.flush()
        yield batch_of([error_row(failure, document)])
    elif waiting.is_due:
        yield from waiting.flush()


class _Waiting:
    """The rows that wait in a session, and which of them belong to which document."""

    def __init__(self, follower: Follower) -> None:
        self._session = follower.session
        self._names = follower.names
        self._noted: list[tuple[int, Input]] = []
        self._noted_rows = 0
        self._flushed_at = time.monotonic()

    @property
    def is_full(self) -> bool:
        session = self._session
        return session.row_count() >= ROWS_MAX or session.value_bytes() >= VALUE_BYTES_MAX

    @property
    def is_due(self) -> bool:
        return self.is_full or time.monotonic() - self._flushed_at >= LINGER_SECONDS

    def note(self, document: Input) -> None:
        """Take down that the rows since the last note are those of a document."""
        count = self._session.row_count() - self._noted_rows
        if count:
            self._noted.append((count, document))
            self._noted_rows += count

    def flush(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows that wait, if there are any."""
        if self._noted:
            columns, noted = self._session.take_columns(), self._noted
            self._noted, self._noted_rows = [], 0
            self._flushed_at = time.monotonic()
            yield _batch(columns, self._names, noted)


def _batch(
    columns: dict[str, int | Column], names: Sequence[str], noted: list[tuple[int, Input]]
) -> pa.RecordBatch:
    import pyarrow as pa
    import pyarrow.compute as pc

    found = kernel_arrays(columns)
    length = len(found["kind"])

    def named(find: Callable[[Any], Any], places: Any) -> Any:
        # Mostly all rows of a large batch have one subscription and one kind.
        if length >= _KEPT_ROWS_MIN:
            bounds = pc.min_max(places)
            if bounds["min"] == bounds["max"]:
                return _constant(find(places.slice(0, 1))[0].as_py(), pa.string(), length)
        return find(places).cast(pa.string())

    def repeated(field: str) -> Any:
        type_ = schema().field(field).type
        parts = [_constant(getattr(document, field), type_, count) for count, document in noted]
        return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)

    made = found | {
        "subscription": named(partial(look_up, names), found["subscription"]),
        "kind": named(kind_names().take, found["kind"]),
        "stream": repeated("stream"),
        "document": repeated("document"),
        "event_time": repeated("event_time"),
    }
    arrays = [
        made[field.name] if field.name in made else pa.nulls(length, field.type)
        for field in schema()
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema())


def _constant(value: object, type_: Any, length: int) -> Any:
    """Return an array of equal values; long ones are slices of one that is kept."""
    import pyarrow as pa

    if value is None:
        return pa.nulls(length, type_)
    if length < _KEPT_ROWS_MIN or length > 2 * ROWS_MAX:
        return pa.repeat(pa.scalar(value, type_), length)
    return _kept_constant(value, type_).slice(0, length)


@lru_cache(maxsize=16)
def _kept_constant(value: object, type_: Any) -> Any:
    import pyarrow as pa

    return pa.repeat(pa.scalar(value, type_), 2 * ROWS_MAX)
