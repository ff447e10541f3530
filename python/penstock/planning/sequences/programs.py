"""The program of a query over sequences: its code, what gathers, and what is read.

The body of a program that requests messages is its code with a length before it, then its flags,
the stream that it reads, its form for the broker if it has one, the folds of the parts that gather,
and a projection for each document, the current one first: its name, and the tree of its places. The
reader is
``crates/kernel/src/message/program.rs``; the two change together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from penstock.planning import program as p
from penstock.planning.broker import as_brokered, encode_brokered
from penstock.planning.broker.encoding import node_test
from penstock.planning.records.encoding import ByteReader
from penstock.planning.sequences.encoding import MAGIC, encode, strings_of
from penstock.planning.sequences.gathering import FOLDS, REGION, Gathering
from penstock.planning.sequences.normal import normalise
from penstock.planning.sequences.projection import Place, Projection
from penstock.planning.sequences.streams import CURRENT, read_current
from penstock.twigs import sequences as q

IS_DIRECT, SENDS_EMPTY, HAS_ITEMS, IS_BROKERED, IS_BOUND = 1, 2, 4, 8, 64
"""Flags: items are rows as soon as they are gathered; a message without content is sent; a
constructor gives an item like all others, and no message; a form for the broker follows; the code
is the layout of bindings."""


def compile_sequences(
    query: q.Sequences,
    stream: str | None = None,
    given: Sequence[str] = (),
    *,
    has_items: bool = False,
    layout: bytes | None = None,
) -> bytes:
    """Return the program of a query in XQuery.

    It reads the documents of a stream, or all documents; ``given`` are documents that are read
    before. With ``has_items`` all items are rows, and none is a message. A ``layout`` of bindings
    takes the place of the code if the query is a loop over the elements of regions.
    """
    documents = [CURRENT, *given]
    normal = normalise(read_current(query, given))
    gathering = Gathering(normal)
    body = gathering.cut(normal.body)
    gathers = gathering.gathers
    projection = Projection(normal, body, gathers, documents)
    entries = [(None, body), *((REGION, gather.body) for gather in gathers)]
    is_direct = body == q.Gathered(0) and gathers[0].fold == "items"
    flags = IS_DIRECT if is_direct else 0
    if layout is not None and is_direct and _is_over_elements(gathers[0].body):
        flags |= IS_BOUND
        code = layout
    else:
        code = encode(normal, entries, documents)
    if has_items:
        flags |= HAS_ITEMS
    if query.empty == "send":
        flags |= SENDS_EMPTY
    brokered = None
    if not (has_items or given) and not projection.has_trees:
        brokered = as_brokered(normal)
    form = b""
    if brokered is not None:
        flags |= IS_BROKERED
        form = encode_brokered(brokered)
        form = p.varint(len(form)) + form
    parts = [
        p.Request.MESSAGES.head,
        p.varint(len(code)),
        code,
        p.varint(flags),
        b"\0" if stream is None else b"\1" + p.constant_bytes(stream),
        form,
        p.many([2 * FOLDS.index(gather.fold) + gather.is_counted for gather in gathers]),
        p.varint(len(projection.roots)),
    ]
    for name, root in projection.roots.items():
        parts.append(p.constant_bytes(name))
        write_place(root, parts)
    return b"".join(parts)


def _is_over_elements(body: Any) -> bool:
    """Return whether a part that gathers is a loop over the elements of its regions."""
    match body:
        case q.Flwor(clauses=(q.For(source=q.Variable(name)),)):
            return bool(name == REGION)
        case _:
            return False


class Length(NamedTuple):
    """Where a program counts bytes: the place of their number, and where they begin and end."""

    at: int
    start: int
    end: int

    @classmethod
    def read(cls, program: bytes, at: int) -> Length:
        """Return the one at a place."""
        reader = ByteReader(program, at)
        size = reader.number()
        return cls(at, reader.place, reader.place + size)


def lengths_in(program: bytes) -> tuple[list[Length], list[str]]:
    """Return where a program for the broker counts bytes, and the strings of its code.

    Any other program has none here.
    """
    code = Length.read(program, len(p.Request.MESSAGES.head))
    reader = ByteReader(program, code.end)
    if not reader.number() & IS_BROKERED:
        return [], []
    reader.optional()
    form = Length.read(program, reader.place)
    lengths = [code, form, *_pieces_in(program, form)]
    codes = [program[one.start : one.end] for one in lengths if one is not form]
    return lengths, [string for one in codes for string in strings_of(one)]


def _pieces_in(program: bytes, form: Length) -> Iterator[Length]:
    """Yield where the code of each piece of a form lies: its length stands before it."""
    start = program.find(MAGIC, form.start, form.end)
    while start > 0:
        at = start - 1
        while program[at - 1] > 0x7F:
            at -= 1
        piece = Length.read(program, at)
        yield piece
        start = program.find(MAGIC, piece.end, form.end)


def write_place(place: Place, parts: list[bytes], *, is_table: bool = False) -> None:
    """Write a place and those below it; the places of a table may be held."""
    waiting = [place]
    while waiting:
        place = waiting.pop()
        parts.append(p.varint(p.AXES[place.axis]))
        parts.append(node_test(place.test))
        parts.append(p.varints(place.marks, place.kept))
        if is_table:
            parts.append(p.varints(place.held, place.levels))
        parts.append(p.many(place.gathers))
        parts.append(p.varint(len(place.children)))
        waiting += reversed(place.children.values())
