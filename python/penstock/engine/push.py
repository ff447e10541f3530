"""A document that the caller pushes in, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from types import TracebackType

from penstock.engine.binding import Binder
from penstock.engine.follower import Follower
from penstock.engine.joining import Joining
from penstock.engine.rows import Origin, blamed
from penstock.errors import DocumentError
from penstock.kernel import Batch
from penstock.results import Result
from penstock.sources import Input, Piece


class PushedInput(Input):
    """A document whose bytes the caller has."""

    def pieces(self) -> Iterator[Piece]:
        raise TypeError("the bytes of a document that is pushed are fed")

    def original(self) -> bytes | None:
        return None


class OpenDocument:
    """A document that is open: ``feed`` it, then ``finish`` it, or leave its ``with`` block.

    What the end of the document decides is returned by ``finish``; if the block ended it, it is
    in ``results``. Documents are joined in the order of their ends. Leaving the block by an
    exception abandons the document.
    """

    def __init__(
        self,
        follower: Follower,
        document: Input,
        joining: Joining,
        binder: Binder,
        release: Callable[[Follower], None],
        rejects: bool = False,
    ) -> None:
        session = follower.session
        self._rejects = rejects
        with joining.lock:
            session.listen(joining.follow())
            self._version = joining.version
            self._is_joined = not joining.is_idle
        with binder.lock:
            binder.follow(follower.snapshot)
            self._is_bound = not binder.is_idle
        self._snapshot = follower.snapshot
        self._binder = binder
        session.begin(document.encoding, document.stream)
        self._follower: Follower | None = follower
        self._origin = Origin(session, follower.names, document)
        self._joining = joining
        self._release = release
        self.results: list[Result] = []

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[Result]:
        """Return the results decided by the next bytes of the document.

        Each result appears once, in the call that supplies the byte that completes it. Where the
        pieces end never changes the results or their order.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document. ``results`` holds
                what this call decided before; the document is closed.
            LimitError: The document passed a limit; likewise.
        """
        follower = self._open_follower()
        session = follower.session
        try:
            follower.attach()
            self._origin.rename(follower.names)
            session.feed(chunk)
        except DocumentError as error:
            raise self._fail(follower, error) from None
        # A document that may turn out to be malformed has no row before its end.
        return [] if self._rejects else self._rows(follower)

    def finish(self) -> list[Result]:
        """Return the results that the end of the document decides, and close it.

        Joined events come last. A document that is too late to be joined gives an error row.

        Raises:
            DocumentError: The document is not complete; ``results`` holds what its end decided.
            LimitError: The document passed a limit; likewise.
        """
        return [row for rows in self.finish_in_batches() for row in rows]

    def finish_in_batches(self) -> Iterator[list[Result]]:
        """Yield the same rows, in lists of bounded size: the document may complete very many.

        The engine's joins wait until the iterator has come to its end, or is closed, which gives
        up the rest.

        Raises:
            DocumentError: As ``finish``.
            LimitError: As ``finish``.
        """
        follower = self._open_follower()
        try:
            follower.session.finish()
        except DocumentError as error:
            raise self._fail(follower, error) from None
        if not self._is_joined:
            rows = self._rows(follower) + self._bound_at_end()
            self._end(follower)
            yield rows
            return
        batch = follower.session.take()
        bound = self._bound(batch) + self._bound_at_end()
        rows = self._origin.rows(batch) + bound
        witness = next((witness for _, witness in batch.witnesses()), None)
        self._end(follower)
        joining = self._joining
        joined = joining.finish(self._origin.document, witness, self._version)
        with joining.lock, closing(joined):
            yield rows + next(joined, [])
            yield from joined

    def close(self) -> None:
        """Finish the document if it is open; ``results`` then holds what its end decided.

        Raises:
            DocumentError: The document is not complete.
            LimitError: The document passed a limit.
        """
        if not self.is_closed:
            self.results = self.finish()

    @property
    def is_closed(self) -> bool:
        """Whether the document has ended or failed."""
        return self._follower is None

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else "open"
        return f"<OpenDocument {self._origin.document.document!r}, {state}>"

    def __enter__(self) -> OpenDocument:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            # In the middle of a document a session is of no use to anybody else.
            follower, self._follower = self._follower, None
            if follower is not None:
                follower.settle()

    def _open_follower(self) -> Follower:
        if self._follower is None:
            raise ValueError("the document is closed")
        return self._follower

    def _fail(self, follower: Follower, error: DocumentError) -> DocumentError:
        if self._rejects:
            follower.session.take()
        rows = self._rows(follower)
        count = self._binder.count(self._origin.document)
        if count:
            error.after_bindings(count)
        rows += self._bound_at_end()
        with self._joining.lock:
            for joined in self._joining.pass_by(self._origin.document):
                rows += joined
        self._end(follower)
        return blamed(error, follower.session, follower.names).with_results(rows)

    def _rows(self, follower: Follower) -> list[Result]:
        session = follower.session
        if not session.row_count():
            return []
        batch = session.take()
        bound = self._bound(batch)
        return self._origin.rows(batch) + bound

    def _bound(self, batch: Batch) -> list[Result]:
        """Return the rows of the bindings of a batch, which are taken out of it."""
        if not self._is_bound:
            return []
        document = self._origin.document
        with self._binder.lock:
            joined = self._binder.join(self._snapshot, [document], batch)
            return [row for rows in joined for row in rows]

    def _bound_at_end(self) -> list[Result]:
        """Return the rows of what memory missed, where the document's time lets bindings go."""
        if not self._is_bound:
            return []
        with self._binder.lock:
            ended = self._binder.end_document(self._origin.document)
            return [row for rows in ended for row in rows]

    def _end(self, follower: Follower) -> None:
        self._follower = None
        follower.settle()
        self._release(follower)
