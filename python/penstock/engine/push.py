"""A document that the caller pushes in, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType

from penstock.engine.evaluation import attach
from penstock.engine.origin import Origin
from penstock.errors import DocumentError
from penstock.kernel import Session
from penstock.results import Result


class OpenDocument:
    """A document that is open: ``feed`` it, then ``finish`` it, or leave its ``with`` block.

    What the end of the document decides is returned by ``finish``; if the block ended it, it is
    in ``results``. Leaving the block by an exception abandons the document.
    """

    def __init__(
        self,
        session: Session,
        origin: Origin,
        release: Callable[[Session], None],
    ) -> None:
        self._session: Session | None = session
        self._origin = origin
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
        session = self._open_session()
        try:
            session.feed(chunk)
        except DocumentError as error:
            raise self._fail(session, error) from None
        return self._origin.take(session)

    def finish(self) -> list[Result]:
        """Return the results that the end of the document decides, and close it.

        Raises:
            DocumentError: The document is not complete; ``results`` holds what its end decided.
            LimitError: The document passed a limit; likewise.
        """
        session = self._open_session()
        try:
            session.finish()
        except DocumentError as error:
            raise self._fail(session, error) from None
        self._session = None
        found = self._origin.take(session)
        self._release(session)
        return found

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
        return self._session is None

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
            self._session = None

    def _open_session(self) -> Session:
        if self._session is None:
            raise ValueError("the document is closed")
        return self._session

    def _fail(self, session: Session, error: DocumentError) -> DocumentError:
        self._session = None
        attach(error, self._origin.take(session))
        self._release(session)
        return error
