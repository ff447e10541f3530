"""Event times that documents state themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from penstock.errors import DocumentError, LimitError
from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.limits import Limits
from penstock.planning.compile import compile_query
from penstock.results import Document, Heartbeat
from penstock.results.documents import no_event_time
from penstock.sources.documents import Source, items
from penstock.sources.inputs import Input, Piece, Refused

_SECONDS = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
_DATE_WITH_ZONE = re.compile(r"(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)")
_SHOWN_MAX = 40


class TimePath:
    """An XPath whose string value is the event time of a document.

    The value is a date or a time of ISO 8601, in UTC if it names no zone, or a number of seconds
    since 1970; of several nodes the first in document order counts. A document is read up to the
    byte that decides the value, at most ``limits.buffer_bytes_max`` bytes, and that much is held.

    Raises:
        QueryError: The path is not valid XPath.
    """

    def __init__(
        self, text: str, namespaces: NamespaceMap | None = None, limits: Limits | None = None
    ) -> None:
        self.text = text
        xpath(text, namespaces=namespaces)  # its errors show the path as it was written
        query = xpath(f"string({text})", namespaces=namespaces)
        self._limits = limits or Limits()
        self._session = Session(Plan.build([compile_query(query)]), self._limits)

    def timed(self, source: Source) -> Iterator[Input | Heartbeat]:
        """Yield the documents of a source with the event times that they state.

        A document that states none is not read and gives an error row (PS0010). Heartbeats go
        through.
        """
        for item in items(source):
            yield item if isinstance(item, Heartbeat | Refused) else self._with_time(item)

    def _with_time(self, document: Input) -> Input:
        beginning = _Beginning(document, self._limits.buffer_bytes_max)
        try:
            beginning.event_time = self._moment(self._value(beginning))
        except DocumentError as error:
            return Refused(document, error)
        return beginning

    def _value(self, document: _Beginning) -> str:
        session = self._session
        try:
            for _ in session.read_pieces(document.first_pieces(), document.encoding):
                if session.row_count():
                    break
        except DocumentError:
            if not session.row_count():
                raise
            # The time was decided before; who reads the document reports the error.
        ((_, _, _, _, value, *_),) = session.take().rows()[0]
        return value.strip()

    def _moment(self, value: str) -> datetime | None:
        if not value:
            reason = f"the document states no event time: {self.text} is empty"
            raise DocumentError("PS0010", reason, 0, 0, "")
        is_number = _SECONDS.fullmatch(value) is not None
        time = float(value) if is_number else iso_time(value)
        if time is None:
            raise no_event_time(f"`{value[:_SHOWN_MAX]}`")
        return Document(b"", time=time).event_time


def iso_time(text: str) -> datetime | None:
    """Return the time that a date or a time of ISO 8601 states; None if it is none."""
    # XML Schema has dates with a zone, which Python does not read.
    date_with_zone = _DATE_WITH_ZONE.fullmatch(text)
    if date_with_zone is not None:
        text = "T00:00".join(date_with_zone.groups())
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


class _Beginning(Input):
    """A document whose first pieces are read twice."""

    def __init__(self, document: Input, bytes_max: int) -> None:
        super().__init__(document.document, document.stream, document.event_time)
        self.encoding = document.encoding
        self._document = document
        self._bytes_max = bytes_max
        document.keep()
        self._whole = document.whole()
        self._first: list[Piece] = []
        self._rest: Iterator[Piece] = iter(())

    def whole(self) -> Piece | None:
        return self._whole

    def first_pieces(self) -> Iterator[Piece]:
        """Yield the pieces; those that were taken are held.

        Raises:
            LimitError: There are too many.
        """
        self._rest = self._document.pieces() if self._whole is None else iter([self._whole])
        held = 0
        for piece in self._rest:
            held += len(piece)
            if held > self._bytes_max:
                reason = f"the event time is not among the first {self._bytes_max} bytes"
                raise LimitError("PL0007", reason, held, 0, "", limit="buffer_bytes_max")
            self._first.append(piece)
            yield piece

    def pieces(self) -> Iterator[Piece]:
        yield from self._first
        yield from self._rest

    def original(self) -> bytes | None:
        return self._document.original()
