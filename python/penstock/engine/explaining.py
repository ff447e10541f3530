"""What becomes of subscriptions under the schema of a stream, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.engine.assumed import AssumingRegistry
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
