"""From an input to a session, and what remains of an input that failed."""

from __future__ import annotations

from collections.abc import Generator
from itertools import chain, islice

from penstock.errors import DocumentError
from penstock.kernel import Session
from penstock.results import Fault, Result
from penstock.sources import Input
from penstock.sources.inputs import Piece


def feed(session: Session, document: Input) -> Generator[None]:
    """Feed a document to a session, and pause after every piece.

    A document that is one piece, and at hand, is read as a whole.

    Raises:
        DocumentError: The document is not well-formed or cannot be read.
        LimitError: The document passed a limit.
    """
    pieces = document.pieces()
    begun: list[Piece] = []
    if document.is_at_hand:
        begun = list(islice(pieces, 2))
        if len(begun) == 1:
            session.read(begun[0], document.encoding)
            return
    session.begin(document.encoding)
    for piece in chain(begun, pieces):
        session.feed(piece)
        yield
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
    )
