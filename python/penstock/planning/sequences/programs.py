"""The program of a query over sequences: its code, what gathers, and what is read.

The body of a program that requests messages is its code with a length before it, then its flags,
the stream that it reads, the folds of the parts that gather, and a projection for each document,
the current one first: its name, and the tree of its places. The reader is
``crates/kernel/src/message/program.rs``; the two change together.
"""

from __future__ import annotations

from collections.abc import Sequence

from penstock.planning import program as p
from penstock.planning.sequences.encoding import encode
from penstock.planning.sequences.gathering import FOLDS, REGION, Gathering
from penstock.planning.sequences.normal import normalise
from penstock.planning.sequences.projection import Place, Projection
from penstock.planning.sequences.streams import CURRENT, read_current
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import NodeTest

IS_DIRECT, SENDS_EMPTY, HAS_ITEMS = 1, 2, 4
"""Flags: items are rows as soon as they are gathered; a message without content is sent; a
constructor gives an item like all others, and no message."""


def compile_sequences(
    query: q.Sequences,
    stream: str | None = None,
    given: Sequence[str] = (),
    *,
    has_items: bool = False,
) -> bytes:
    """Return the program of a query in XQuery.

    It reads the documents of a stream, or all documents; ``given`` are documents that are read
    before. With ``has_items`` all items are rows, and none is a message.
    """
    documents = [CURRENT, *given]
    normal = normalise(read_current(query, given))
    gathering = Gathering(normal)
    body = gathering.cut(normal.body)
    gathers = gathering.gathers
    projection = Projection(normal, body, gathers, documents)
    entries = [(None, body), *((REGION, gather.body) for gather in gathers)]
    code = encode(normal, entries, documents)
    is_direct = body == q.Gathered(0) and gathers[0].fold == "items"
    flags = IS_DIRECT if is_direct else 0
    if has_items:
        flags |= HAS_ITEMS
    if query.empty == "send":
        flags |= SENDS_EMPTY
    parts = [
        p.Request.MESSAGES.head,
        p.varint(len(code)),
        code,
        p.varint(flags),
        b"\0" if stream is None else b"\1" + p.constant_bytes(stream),
        p.many([2 * FOLDS.index(gather.fold) + gather.is_counted for gather in gathers]),
        p.varint(len(projection.roots)),
    ]
    for name, root in projection.roots.items():
        parts.append(p.constant_bytes(name))
        write_place(root, parts)
    return b"".join(parts)


def write_place(place: Place, parts: list[bytes], *, is_table: bool = False) -> None:
    """Write a place and those below it; the places of a table may be held."""
    waiting = [place]
    while waiting:
        place = waiting.pop()
        parts.append(p.varint(p.AXES[place.axis]))
        parts.append(_test(place.test))
        parts.append(p.varints(place.marks, place.kept))
        if is_table:
            parts.append(p.varints(place.held, place.levels))
        parts.append(p.many(place.gathers))
        parts.append(p.varint(len(place.children)))
        waiting += reversed(place.children.values())


def _test(test: NodeTest) -> bytes:
    local = b"\0" if test.local is None else b"\1" + p.constant_bytes(test.local)
    uris = b"\0"
    if test.uris is not None:
        listed = b"".join([p.constant_bytes(uri) for uri in test.uris])
        uris = b"\1" + p.varint(len(test.uris)) + listed
    return p.varint(p.KINDS[test.kind]) + local + uris
