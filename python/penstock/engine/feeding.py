"""From an input to a session, and what remains of an input that failed."""

from __future__ import annotations

from collections.abc import Generator

from penstock.errors import DocumentError
from penstock.joins import Joiner
from penstock.kernel import ALONE, Session
from penstock.results import Fault, Result
from penstock.sources import Input


def feed(
    session: Session,
    document: Input,
    joiner: Joiner | None = None,
    *,
    is_trusting: bool = False,
) -> Generator[None]:
    """Feed a document to a session, and to joins if there are any; pause after every piece.

    The session is finished, the joins are not: they need the document's time for that.

    A document that is small and at hand is read as a whole, without a pause. With trust, nothing
    more is read of a document that can give no more rows.

    Raises:
        DocumentError: The document is not well-formed or cannot be read.
        LimitError: The document passed a limit.
    """
    whole = document.whole()
    if whole is None:
        yield from feed_pieces(session, document, joiner, is_trusting=is_trusting)
        return
    session.read(whole, document.encoding)
    if joiner is not None:
        joiner.begin(document.stream, document.encoding)
        joiner.feed(whole)


def feed_pieces(
    session: Session,
    document: Input,
    joiner: Joiner | None = None,
    *,
    is_trusting: bool = False,
) -> Generator[None]:
    """Do the same for a document that is not at hand."""
    session.begin(document.encoding)
    if joiner is not None:
        joiner.begin(document.stream, document.encoding)
    for piece in document.pieces():
        session.feed(piece)
        if joiner is not None:
            joiner.feed(piece)
        yield
        if is_trusting and joiner is None and session.is_decided():
            return
    session.finish()


def error_row(error: DocumentError, document: Input) -> Result:
    """Return the row of a document that failed."""
    return Result(
        subscription=None,
        stream=document.stream,
        document=document.document,
        documents=None,
        ordinal=0,
        kind="error",
        name="",
        value=None,
        start=None,
        end=None,
        decided_at=error.byte,
        event_time=document.event_time,
        error=Fault.of(error),
        source=document.original(),
        surroundings=ALONE,
    )
