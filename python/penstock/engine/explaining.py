"""What evaluates the subscriptions of an engine, and how many there are of each kind, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from penstock.engine.assumed import AssumingRegistry
from penstock.engine.binding import Binder
from penstock.engine.follower import Follower
from penstock.engine.joining import Joining
from penstock.engine.pool import Pool
from penstock.engine.readers import ReaderPool
from penstock.kernel import WHOLE_BYTES_MAX, Session
from penstock.planning.schemas.ends import written
from penstock.schemas import Schema

_NAMES_SHOWN = 3


_MADE = {
    "messages": ("query in XQuery", "queries in XQuery", "evaluated part by part"),
    "tables": ("table", "tables", "each record gives a row"),
    "bindings": ("side", "sides", "what joins of streams read of one stream"),
}
"""What listeners for messages make: one, several, and how."""


def explain_joined(follower: Follower, joining: Joining, binder: Binder) -> Iterator[str]:
    """Yield lines about what a session reads, and what joins do with it."""
    yield from _explain_session(follower.session)
    joining.follow(follower)
    binder.follow(follower)
    yield from _explain_joins(joining, binder)


def explain_streams(
    pool: Pool, readers: ReaderPool, schemas: Mapping[str, Schema], *, is_trusting: bool
) -> Iterator[str]:
    """Yield lines about streams that have a schema."""
    for stream, under in readers.under.items():
        fed = readers.fed_under.get(stream) if is_trusting else None
        yield from _explain_stream(stream, schemas[stream], under, fed)
        session, is_checked = pool.new(under).session, bool(under.watched)
        for line in _explain_session(session, is_checked=is_checked):
            yield f"  {line}"


def _explain_session(session: Session, *, is_checked: bool = False) -> Iterator[str]:
    """Yield lines about the listeners of a session.

    If ``is_checked``, the last tier finds what breaks a schema.
    """
    tiers = [tier for tier in session.structures() if any(tier)]
    for number, (asked, matched) in enumerate(tiers, start=1):
        yield "checks" if is_checked and number == len(tiers) else f"tier {number}"
        if asked:
            yield f"  {asked:,} questions: asked of each small document as a whole"
        if matched:
            yield f"  {matched:,} questions: matched event by event"
    if tiers:
        yield f"documents above {WHOLE_BYTES_MAX:,} bytes, and those that are fed:"
        yield "  all questions: matched event by event"
    if counts := session.broker_counts():
        yield "queries of one form, asked together of each small document:"
        for name, count in counts.items():
            if count:
                yield f"  {count:,} of {name}"
    made = session.messages_made()
    for kind, (one, several, how) in _MADE.items():
        programs, subscriptions = made.get(kind, (0, 0))
        if programs:
            of = "" if programs == subscriptions else f" of {_subscriptions(subscriptions)}"
            yield f"{programs:,} {one if programs == 1 else several}{of}: {how}"


def _explain_joins(joining: Joining, binder: Binder) -> Iterator[str]:
    """Yield lines about joins that have taken over the subscriptions."""
    names, joins = joining.names, joining.statistics()
    if names and joins is not None:
        yield f"joins of documents: {_subscriptions(len(names))}"
        for name, count in (
            ("templates", joins.shapes),
            ("variables", joins.variables),
            ("steps of paths", joins.steps),
            ("conditions", joins.formulas),
            ("pairs of variables with equal values", joins.pairs),
        ):
            yield f"  {name}: {count:,}"
    for sides, outlines, evaluated in binder.structures():
        yield f"join of {sides} streams: {_subscriptions(outlines + evaluated)}"
        how = "put together from pieces" if outlines else "evaluated for each tuple"
        yield f"  messages: {how}"


def _subscriptions(count: int) -> str:
    return f"{count:,} subscription{'' if count == 1 else 's'}"


def _explain_stream(
    stream: str, schema: Schema, under: AssumingRegistry, fed: AssumingRegistry | None
) -> Iterator[str]:
    """Yield lines about a stream; ``fed`` is for documents that are read up to their last match."""
    under.snapshot()
    yield f"stream {stream}: {schema!r}"
    yield f"  {len(under.changed):,} subscriptions are rewritten"
    if under.watched:
        yield f"  checked in each document: where {', '.join(map(str, under.watched))} may stand"
    if fed is None:
        return
    fed.snapshot()
    if fed.ends:
        yield f"  no match after {written(fed.ends)}: long documents end there"
    if fed.endless:
        yield f"  matches anywhere: {_some_of(fed.endless)}; long documents are read to their end"


def _some_of(names: Sequence[str]) -> str:
    """Return names to read, of many the first ones."""
    shown = ", ".join(f"`{name}`" for name in names[:_NAMES_SHOWN])
    more = len(names) - _NAMES_SHOWN
    return f"{shown} and {more:,} more" if more > 0 else shown
