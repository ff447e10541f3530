"""What becomes of subscriptions under the schema of a stream, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.engine.assumed import AssumingRegistry
from penstock.kernel import WHOLE_BYTES_MAX, Session
from penstock.planning.schemas.ends import written
from penstock.schemas import Schema

_NAMES_SHOWN = 3


def explain_stream(
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


def explain_session(session: Session, strategy: str) -> list[str]:
    """Return how a session evaluates its plan, and by which structures."""
    lines = []
    tiers = [tier for tier in session.structures() if any(tier)]
    for number, (asked, matched) in enumerate(tiers, start=1):
        lines.append(f"tier {number}")
        if asked:
            lines.append(f"  {asked:,} questions: asked of each small document as a whole")
        if matched:
            lines.append(f"  {matched:,} questions: matched event by event")
    if tiers:
        lines.append(f"documents above {WHOLE_BYTES_MAX:,} bytes, and those that are fed:")
        lines.append("  all questions: matched event by event")
    if operators := session.broker_operators():
        lines.append(f"queries of one form, strategy {strategy}:")
        lines += [f"  {count:,} of {name}" for name, count in operators.items() if count]
    return lines
