"""Which documents a query reads: the current one of a stream, and those that are given with it.

``/`` is the current document, and so is every stream that no document is given for; planning calls
it ``CURRENT``. A standing query that names a stream reads the documents of that stream alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from penstock.errors import QueryError
from penstock.planning.sequences.context import has_context, reads_root
from penstock.twigs import Query
from penstock.twigs import sequences as q
from penstock.twigs.sequence_parts import all_parts, map_roots, rewrite, roots_of

CURRENT = ""
"""The name of the current document."""


def streams_of(query: q.Sequences) -> list[str]:
    """Return the streams that a query names, in the order of their names."""
    return sorted({part.name for part in _parts(query) if isinstance(part, q.Stream)})


def read_current(query: q.Sequences, given: Collection[str] = ()) -> q.Sequences:
    """Return a query that reads the current document where it names a stream that is not given."""

    def change(part: Any) -> Any:
        is_current = isinstance(part, q.Stream) and part.name not in given
        return q.Stream(CURRENT) if is_current else part

    return map_roots(query, lambda root: rewrite(root, change))


def reads_current(query: q.Sequences, given: Collection[str] = ()) -> bool:
    """Return whether a query reads anything but documents that are given."""
    roots = [query.body, *(variable.value for variable in query.variables)]
    if any(has_context(root) or reads_root(root) for root in roots):
        return True
    return any(isinstance(part, q.Stream) and part.name not in given for part in _parts(query))


def only_stream(query: Query) -> str | None:
    """Return the stream that a standing query reads; None if it reads those of all streams.

    Raises:
        QueryError: The query reads a document that came with a variable, or is to join something.
    """
    assert isinstance(query.output, q.Sequences)
    streams = streams_of(query.output)
    span, text = (0, len(query.text)), query.text
    for name in streams:
        if name.startswith("$"):
            message = f"`{name}` is bound to a document, which a standing query does not keep"
            raise QueryError("PQ0531", message, span, "use penstock.evaluate", text)
    assert len(streams) <= 1, "several streams are joined"
    if query.output.within_us is not None:
        message = "`within` is about what streams join, and the query reads one stream"
        raise QueryError("PQ0512", message, span, "leave it away", text)
    return streams[0] if streams else None


def _parts(query: q.Sequences) -> Iterator[Any]:
    return all_parts(*roots_of(query))
