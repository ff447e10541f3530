"""What the engine gives for a case, in the form in which it is compared."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import lru_cache

import penstock
from penstock.joins import JoinOptions
from penstock.limits import Limits
from penstock_testing.adversary.xscl.cases import Case, names_of
from penstock_testing.adversary.xscl.expectation import FAULT, LATE, UNTIMED, Row
from penstock_testing.adversary.xscl.syntax import NAMESPACES, Query, write_query
from penstock_testing.adversary.xscl.trees import Shape, read, shape_of
from penstock_testing.colliding import CollidingOptions

WAYS = {
    "shared": JoinOptions(),
    "spilled": JoinOptions(state_bytes_max=1),
    "colliding": CollidingOptions(),
}
"""Options that must not change an answer."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def answer(case: Case) -> Iterator[Row]:
    """Yield what is compared of the rows that the engine gives."""
    engine = penstock.Engine(
        registry_of(case.queries),
        limits=None if case.depth_max is None else Limits(depth_max=case.depth_max),
        lateness=case.lateness,
        joins=WAYS[case.way],
    )
    step = -1

    def source() -> Iterator[penstock.Document | penstock.Heartbeat]:
        nonlocal step
        for at, one in enumerate(case.arrivals):
            step = at
            if one.xml is None:
                yield penstock.Heartbeat(one.stream, one.time)
            else:
                yield penstock.Document(one.xml, one.id, one.stream, one.time)
        step = len(case.arrivals)

    open_ones = open_steps(case.queries)
    for row in engine.run(source()):
        yield actual_row(row, None if row.subscription in open_ones else step)


@lru_cache(maxsize=4)
def registry_of(queries: tuple[Query, ...]) -> penstock.Registry:
    """Return the subscriptions as the product takes them."""
    registry = penstock.Registry()
    for name, query in names_of(queries).items():
        registry.add(name, penstock.xscl(write_query(query), namespaces=NAMESPACES))
    return registry


def actual_row(row: penstock.Result, step: int | None) -> Row:
    """Return what is compared of a row that came with an arrival."""
    if row.error is not None:
        code = row.error.code if row.error.code in (LATE, UNTIMED) else FAULT
        assert (row.source is None) == (row.subscription is not None)
        return ("error", row.subscription, _known(row.document), code, step)
    assert row.documents is not None
    assert row.event_time is not None
    shape = _shape(row.value or "", row.kind)
    if row.kind not in ("comment", "processing-instruction"):
        assert _shape(row.xml, "element") == shape, "`xml` is what `value` is"
    return (
        "row",
        row.subscription,
        tuple(map(_known, row.documents)),
        _known(row.document),
        (row.event_time - _EPOCH) // timedelta(microseconds=1),
        row.kind,
        row.name,
        shape,
        step,
    )


def _shape(text: str, kind: str) -> Shape:
    """Return the shape of a value: XML, or a string where the kind has only that."""
    if kind in ("element", "document", "event", "message"):
        (whole,) = shape_of(read(f"<w>{text}</w>".encode()))
        content: Shape = whole[2]
        return content
    return (text,) if text else ()


def _known(document: str) -> str:
    """Return the id of a document; one that was published is known by its publisher."""
    name, is_published, _ = document.partition("(")
    return f"*{name}" if is_published else document


@lru_cache(maxsize=4)
def open_steps(queries: tuple[Query, ...]) -> frozenset[str]:
    """Return the subscriptions whose rows may come with any arrival.

    When the absence of something published is certain depends on its publisher; and so does
    everything that is made of it.
    """
    published = {query.publish for query in queries if query.publish}
    open_streams: set[str] = set()
    found = set()
    for name, query in names_of(queries).items():
        absent = (one.block.stream for one in query.operators if one.kind == "NOT FOLLOWED BY")
        if published.intersection(absent) or any(b.stream in open_streams for b in query.blocks):
            found.add(name)
            if query.publish:
                open_streams.add(query.publish)
    return frozenset(found)
