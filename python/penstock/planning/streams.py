"""Which streams a query reads, by their names."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from penstock.planning.sequences.streams import streams_of
from penstock.twigs import Event, Query
from penstock.twigs.sequences import Sequences


def named_streams(query: Query) -> list[str]:
    """Return the streams that a query names; none if it reads documents of all streams."""
    if isinstance(query.output, Sequences):
        return streams_of(query.output)
    names = [block.stream for block in query.blocks]
    return [] if None in names else sorted({name for name in names if name is not None})


def published_stream(query: Query) -> str | None:
    """Return the stream that a query publishes."""
    return query.output.publish if isinstance(query.output, Event) else None


def unfed_streams(
    query: Query, fed: Collection[str], names: Mapping[str, str] | None = None
) -> list[str]:
    """Return the streams that a query names and that nothing feeds.

    ``names`` gives streams other names, as those of an engine.
    """
    known = names or {}
    return [name for name in named_streams(query) if known.get(name, name) not in fed]


def unfed_reason(unfed: Iterable[str], fed: Iterable[str], way_out: str) -> str:
    """Return the sentence about streams that nothing feeds."""
    quoted = [", ".join(f"`{name}`" for name in sorted(names)) for names in (unfed, fed)]
    return f"no document is of the stream {quoted[0]}; the documents are of {quoted[1]}; {way_out}"
