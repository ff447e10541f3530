"""A document that the caller pushes in, piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING

from penstock.engine.reading import Pace, Portion, Reader
from penstock.engine.rows import Making
from penstock.errors import DocumentError
from penstock.results import Result
from penstock.sources import Input, Piece

if TYPE_CHECKING:
    pass

PACE = Pace(rows_max=1, value_bytes_max=1)
"""A piece that decides nothing needs no portion."""


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

    def __init__(self, reader: Reader, document: Input, release: Callable[[bool], None]) -> None:
        self._document = document
        self._release = release
        self._making = Making()
        self.results: list[Result] = []
        self._reader: Reader | None = reader
        reader.begin(document)
        if reader.has_failed:
            raise self._fail(reader, [])

    def feed(self, chunk: bytes | bytearray | memoryview) -> list[Result]:
        """Return the results decided by the next bytes of the document.

        Each result appears once, in the call that supplies the byte that completes it. Where the
        pieces end never changes the results or their order. What a subscription cannot do with
        the document is an error row of that subscription.

        Raises:
            DocumentError: The bytes so far cannot begin a well-formed document. ``results`` holds
                what this call decided before; the document is closed.
            LimitError: The document passed a limit; likewise.
        """
        reader = self._open_reader()
        rows = [row for rows in self._rows(reader.push(memoryview(chunk))) for row in rows]
        if reader.has_failed:
            raise self._fail(reader, rows)
        return rows

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
        reader = self._open_reader()
        reader.end_document()
        if reader.has_failed:
            raise self._fail(reader, [])
        self._reader = None
        try:
            yield from self._rows(reader.finish())
        finally:
            self._release(True)

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
        return self._reader is None

    def __repr__(self) -> str:
        state = "closed" if self.is_closed else "open"
        return f"<OpenDocument {self._document.document!r}, {state}>"

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
        elif not self.is_closed:
            self._reader = None
            self._release(False)

    def _open_reader(self) -> Reader:
        if self._reader is None:
            raise ValueError("the document is closed")
        return self._reader

    def _rows(self, portions: Iterable[Portion]) -> Iterator[list[Result]]:
        for portion in portions:
            yield from self._making.rows(portion)

    def _fail(self, reader: Reader, rows: list[Result]) -> DocumentError:
        """Close the document; return its error with the rows before it."""
        failure: DocumentError | None = None
        for portion in reader.finish():
            alone = [one for one in portion.errors if one[1].subscription is not None]
            for _, error in portion.errors:
                failure = error if error.subscription is None else failure
            for further in self._making.rows(portion._replace(errors=alone)):
                rows += further
        assert failure is not None, "the document has failed"
        self._reader = None
        self._release(True)
        return failure.with_results(rows)
