"""Documents in pieces."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from penstock.kernel import Session


def split(document: bytes, random: Random) -> list[bytes]:
    """Return a document in pieces, cut at random."""
    cuts = sorted(random.randrange(len(document) + 1) for _ in range(random.randint(1, 6)))
    return [
        document[start:end] for start, end in zip([0, *cuts], [*cuts, len(document)], strict=True)
    ]


def read(session: Session, document: bytes) -> None:
    """Let a session read a document as a whole.

    Raises:
        DocumentError: The document is not well-formed.
    """
    session.read_whole(document)


def feed(session: Session, pieces: Sequence[bytes]) -> None:
    """Let a session read a document in pieces.

    Raises:
        DocumentError: The document is not well-formed.
    """
    session.begin()
    for piece in pieces:
        session.feed(piece)
    session.finish()
