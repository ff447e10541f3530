"""Documents whose pieces arrive one by one, while others are read."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.engine.driver import Driver, Portion
from penstock.engine.rows import blamed
from penstock.errors import DocumentError
from penstock.results import Heartbeat
from penstock.sources import Input


class PieceDriver(Driver):
    """Reads documents whose pieces are pushed, one document after the other.

    Each iterator has to be read to its end before the next call.
    """

    _has_failed = False

    def open(self, document: Input) -> None:
        """Start a document; what has changed in the registry takes effect."""
        if self._follower.is_behind():
            self._follower.advance()
        self._follow()
        self._documents, self._has_failed = [document], False
        try:
            self._session.begin(document.encoding, document.stream, 0)
        except DocumentError as error:
            self.fail(error)

    def push(self, piece: bytes) -> Iterator[Portion]:
        """Yield what the next bytes decide; what follows an error is skipped."""
        place = 0
        while place < len(piece) and not self._has_failed:
            try:
                place = self._session.feed_some(piece, place)
            except DocumentError as error:
                self.fail(blamed(error, self._session, self._follower.names))
            else:
                if not self._pace.rejects:
                    yield from self._take(self._documents, is_open=True)

    def fail(self, error: DocumentError) -> None:
        """Let the document end with an error."""
        if not self._has_failed:
            self._has_failed = True
            self._errors.append((0, error))

    def close(self) -> Iterator[Portion]:
        """Yield what the end of the document decides."""
        if not self._has_failed:
            try:
                self._session.finish()
            except DocumentError as error:
                self.fail(blamed(error, self._session, self._follower.names))
        yield from self._take(self._documents)

    def beat(self, heartbeat: Heartbeat) -> Iterator[Portion]:
        """Yield what is complete once event time has come to a heartbeat."""
        yield from self._advance(heartbeat)
