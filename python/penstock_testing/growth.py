"""What a query costs over a document: counted work and kept bytes, whatever the machine does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from penstock.kernel import Plan, Session
from penstock.languages.xpath import xpath
from penstock.limits import Limits
from penstock.planning.compile import compile_query

PIECE_BYTES = 1 << 10
"""Small, because bytes kept are looked at after every piece."""
DEPTH_MAX = 1_000_000


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run took: steps beyond a constant per event, bytes kept at most, rows found."""

    work: int
    kept_bytes: int
    rows: int


def open_session(*queries: str, **limits: int) -> Session:
    """Return a session in a document; elements may be nested as deeply as the limits say."""
    plan = Plan.build([compile_query(xpath(query)) for query in queries])
    session = Session(plan, Limits(**{"depth_max": DEPTH_MAX, **limits}))
    session.begin()
    return session


def measure(queries: str | Iterable[str], document: Iterable[bytes]) -> Cost:
    """Return what queries cost over a document that comes in pieces; rows are dropped."""
    session = open_session(*([queries] if isinstance(queries, str) else queries))
    kept = rows = 0
    for piece in joined(document):
        session.feed(piece)
        kept = max(kept, session.statistics().kept_bytes)
        rows += drop_rows(session)
    session.finish()
    rows += drop_rows(session)
    return Cost(session.statistics().steps, kept, rows)


@dataclass(frozen=True, slots=True)
class Window:
    """What some records of a stream cost: work for each of them, and bytes kept at most."""

    work: float
    kept_bytes: int


def windows(query: str, stream: Iterator[bytes], size: int) -> Iterator[Window]:
    """Yield what a query costs over the records of an endless stream, window by window."""
    session = open_session(query)
    session.feed(b"<r>")
    while True:
        before, kept = session.statistics().steps, 0
        for piece in joined(islice(stream, size)):
            session.feed(piece)
            drop_rows(session)
            kept = max(kept, session.statistics().kept_bytes)
        yield Window((session.statistics().steps - before) / size, kept)


def drop_rows(session: Session) -> int:
    """Take the rows that are decided, and return how many there were."""
    count = session.row_count()
    if count:
        session.take().columns()
    return count


def joined(document: Iterable[bytes], piece_bytes: int = PIECE_BYTES) -> Iterator[bytes]:
    """Yield the same bytes in larger pieces."""
    waiting: list[bytes] = []
    size = 0
    for part in document:
        waiting.append(part)
        size += len(part)
        if size >= piece_bytes:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)
