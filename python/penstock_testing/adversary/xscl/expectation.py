"""The rows that the definitions demand of a case: results, and errors of documents and events."""

from __future__ import annotations

from collections import Counter
from typing import Any

from lxml import etree

from penstock_testing.adversary.xscl.brute import Event, Read, evaluate
from penstock_testing.adversary.xscl.cases import Arrival, Case, names_of, watermarks
from penstock_testing.adversary.xscl.syntax import Element, Query
from penstock_testing.adversary.xscl.trees import Node, depth_of, read, shape_of, tree_of

Row = tuple[Any, ...]
"""What is compared of a row; equal rows are counted."""

LATE, UNTIMED, FAULT = "PJ0001", "PS0010", "a fault"
"""What is wrong with a document or an event; which fault it is, others have tested."""


def expect(case: Case) -> Counter[Row]:
    """Return the rows that the definitions demand."""
    rows: Counter[Row] = Counter()
    marks = watermarks(case)
    known: list[Read] = []
    for step, one in enumerate(case.arrivals):
        if one.xml is None and one.has_time:
            continue
        code, root = _judge(case, one, marks[step])
        if root is None:
            rows["error", None, one.id, code, step] += 1
        else:
            known.append(Read(one.id, one.stream, one.time_us, root, step))
    published = frozenset(query.publish for query in case.queries if query.publish)
    for name, query in names_of(case.queries).items():
        for event in evaluate(query, known, marks, published):
            if query.publish is None:
                rows[_expected_row(name, query, event)] += 1
            elif case.depth_max is not None and depth_of(event.shape) > case.depth_max:
                rows["error", name, event.latest.id, FAULT, event.step] += 1
            else:
                rows[_expected_row(name, query, event)] += 1
                tree = tree_of(event.shape)
                known.append(Read(f"*{name}", query.publish, event.time_us, tree, event.step))
    return rows


def _judge(case: Case, one: Arrival, mark: float) -> tuple[str, Node | None]:
    """Return the document node of an arrival, or what is wrong with it."""
    if not one.has_time:
        return UNTIMED, None
    assert one.xml is not None, "a heartbeat gives nothing by itself"
    try:
        root = read(one.xml.encode())
    except etree.XMLSyntaxError:
        return FAULT, None
    if case.depth_max is not None and depth_of(shape_of(root)) > case.depth_max:
        return FAULT, None
    return LATE, None if one.time_us < mark else root


def _expected_row(name: str, query: Query, event: Event) -> Row:
    ids = tuple(part.id for part in event.parts)
    what = ("event", "event")
    if isinstance(query.select, Element):
        what = ("message", "")
    elif query.is_bare:
        what = (event.nodes[0].kind, event.nodes[0].name)
    return ("row", name, ids, event.latest.id, event.time_us, *what, event.shape, event.step)
