"""Documents that are read under a schema, which is trusted or checked in the same pass.

Where it is checked, a document at hand is read by a session whose plan has both the rewritten
programs and the queries that match what breaks their assumptions. If one matches, nothing of the
document has been handed out yet: its rows are dropped, and it is read once more, without the
schema. Documents that come in pieces hand out rows before their end, so they are read without the
schema from the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from penstock import logs
from penstock.engine.driver import Driver, Pace, Portion
from penstock.engine.follower import Follower
from penstock.engine.joining import Joining
from penstock.engine.suspension import Suspensions
from penstock.errors import DocumentError
from penstock.kernel import WholeDocument
from penstock.sources import Input, Piece


class TrustingDriver(Driver):
    """Reads documents at hand itself; ``other`` reads those that come in pieces."""

    def __init__(
        self,
        follower: Follower,
        other: Driver,
        pace: Pace,
        joining: Joining | None,
        suspensions: Suspensions,
    ) -> None:
        super().__init__(follower, pace, joining, suspensions)
        self._other = other

    def _feed(self, document: Input) -> Iterator[Portion]:
        if self._documents:
            yield from self._take(self._documents)
        yield from self._other.read([document])

    def _take(self, documents: Sequence[Input], is_open: bool = False) -> Iterator[Portion]:
        assert not is_open, "documents in pieces are read elsewhere"
        if documents:
            yield from super()._take(documents)


class CheckingDriver(TrustingDriver):
    """Checks what it reads; ``other``, which has no schema, also reads what breaks it."""

    def __init__(
        self,
        follower: Follower,
        other: Driver,
        pace: Pace,
        joining: Joining | None,
        suspensions: Suspensions,
    ) -> None:
        super().__init__(follower, other, pace, joining, suspensions)
        self._checking = follower
        self._wholes: list[WholeDocument] = []
        """The bytes of documents, in the order of their arrival, until they are handed out."""
        self._failing: list[tuple[int, int, DocumentError]] = []

    def _hold(self, document: Input, whole: Piece) -> bool:
        self._wholes.append((whole, document.encoding, document.stream))
        return super()._hold(document, whole)

    def _feed(self, document: Input) -> Iterator[Portion]:
        if len(self._wholes) > len(self._documents):
            # It was to be read as a whole, and has too many rows for that.
            del self._wholes[len(self._documents)]
        yield from super()._feed(document)

    def _take(self, documents: Sequence[Input], is_open: bool = False) -> Iterator[Portion]:
        if not documents:
            return
        batch = self._session.take()
        self._failing = self._session.take_failing()
        wholes, self._wholes = self._wholes[: len(documents)], self._wholes[len(documents) :]
        first = len(self._follower.names)
        broken = {number for number, one, _ in self._failing if one >= first}
        broken.update(batch.documents_from(first))
        if not broken:
            yield from self._hand_out(batch, documents, is_open)
            return
        self._checking.discount(batch)
        again = [Reread(one, whole) for one, whole in zip(documents, wholes, strict=True)]
        waiting, self._wholes = self._wholes, []
        bundle, self._bundle = self._bundle, []
        self._failing, self._errors, self._documents, self._joined = [], [], [], 0
        for is_broken, group in groupby(range(len(again)), broken.__contains__):
            run = [again[number] for number in group]
            if is_broken:
                for one in run:
                    logs.engine.info("the document %s breaks its schema", one.document)
                yield from self._other.read(run)
            else:
                yield from self.read(run)
        self._wholes, self._bundle = waiting, bundle

    def _take_failing(self) -> list[tuple[int, int, DocumentError]]:
        failing, self._failing = self._failing, []
        return failing


class Reread(Input):
    """A document that was read already, with the bytes that it had."""

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
