"""A document: bytes with an id, a stream and an event time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

from penstock.errors import DocumentError

Data = bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO
"""Where the bytes of a document come from; a ``str`` is XML text, never the name of a file."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
FIRST_US = (datetime.min.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
LAST_US = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // _MICROSECOND
"""The first and the last event time in microseconds since 1970."""


@dataclass(frozen=True, slots=True)
class Document:
    """One XML document of a stream.

    ``id`` names it in its results; without one it is the name of the file, or the position in
    the source. ``time`` is the event time: a datetime (UTC, if it says nothing else) or seconds
    since 1970. Without one it is the time of arrival.

    >>> Document("<order/>", id="o1", stream="orders", time=1_700_000_000).event_time.isoformat()
    '2023-11-14T22:13:20+00:00'
    """

    data: Data
    id: str | None = None
    stream: str = "default"
    time: datetime | float | None = None

    def __repr__(self) -> str:
        data = self.data
        if isinstance(data, bytes | bytearray | memoryview):
            shown = f"{len(data):,} bytes"
        elif isinstance(data, str):
            shown = f"{len(data):,} characters"
        else:
            shown = repr(data)
        named = "" if self.id is None else f" {self.id!r}"
        return f"<Document{named} of {self.stream}: {shown}>"

    @property
    def event_time(self) -> datetime | None:
        """The event time in UTC, if it has one of its own.

        Raises:
            DocumentError: The time lies outside the years 1 to 9999, or is no number.
        """
        return None if self.time is None else _moment(self.time)


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """Says that a stream has come to an event time, where it has no document to say so.

    It may stand in a source wherever a document may. It advances the watermark of joins, and
    gives no rows by itself.

    >>> Heartbeat("orders", 1_700_000_000).event_time.year
    2023
    """

    stream: str
    time: datetime | float

    @property
    def event_time(self) -> datetime:
        """The event time in UTC.

        Raises:
            DocumentError: The time lies outside the years 1 to 9999, or is no number.
        """
        return _moment(self.time)


def _moment(time: datetime | float) -> datetime:
    try:
        if not isinstance(time, datetime):
            return datetime.fromtimestamp(time, UTC)
        if time.tzinfo is None:
            return time.replace(tzinfo=UTC)
        return time.astimezone(UTC)
    except (ValueError, OverflowError, OSError):
        raise no_event_time(time) from None


def no_event_time(time: object) -> DocumentError:
    """Return the error for an event time that is none."""
    reason = f"{time} is no event time; those are between the years 1 and 9999"
    return DocumentError("PS0010", reason, 0, 0, "")


def microseconds_of(moment: datetime) -> int:
    """Return a time in microseconds since 1970, as joins count it."""
    return (moment - _EPOCH) // _MICROSECOND


def check_event_time(time_us: int) -> None:
    """See whether a time in microseconds since 1970 is an event time.

    Raises:
        DocumentError: The time lies outside the years 1 to 9999.
    """
    if not FIRST_US <= time_us <= LAST_US:
        raise no_event_time(f"{time_us / 1_000_000:.0f} seconds after 1970")


def moment_of(time_us: int) -> datetime:
    """Return an event time that joins have counted."""
    return _EPOCH + time_us * _MICROSECOND


def event_id(
    subscription: str, documents: Sequence[str], ranges: Iterable[tuple[str, int, int]]
) -> str:
    """Return the id of the document that a joined event becomes where it is published.

    It is made of what the event is made of, ``ranges`` being its selected nodes, so that equal
    events have equal ids however their parts arrived.
    """
    selected = ",".join(f"{document}[{start}-{end}]" for document, start, end in ranges)
    return f"{subscription}({'+'.join(documents)}: {selected})"
