"""A document: bytes with an id, a stream and an event time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import BinaryIO

Data = bytes | bytearray | memoryview | str | os.PathLike[str] | BinaryIO
"""Where the bytes of a document come from; a ``str`` is XML text, never the name of a file."""


@dataclass(frozen=True, slots=True)
class Document:
    """One XML document of a stream.

    ``id`` names it in its results; without one it is the name of the file, or the position in
    the source. ``time`` is the event time: a datetime (UTC, if it says nothing else) or seconds
    since 1970.
    """

    data: Data
    id: str | None = None
    stream: str = "default"
    time: datetime | float | None = None

    @property
    def event_time(self) -> datetime | None:
        """The event time in UTC."""
        match self.time:
            case None:
                return None
            case datetime() as moment:
                return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
            case seconds:
                return datetime.fromtimestamp(seconds, UTC)


def event_id(
    subscription: str, documents: Sequence[str], ranges: Iterable[tuple[str, int, int]]
) -> str:
    """Return the id of the document that a joined event becomes where it is published.

    It is made of what the event is made of, ``ranges`` being its selected nodes, so that equal
    events have equal ids however their parts arrived.
    """
    selected = ",".join(f"{document}[{start}-{end}]" for document, start, end in ranges)
    return f"{subscription}({'+'.join(documents)}: {selected})"
