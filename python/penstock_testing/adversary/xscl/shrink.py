"""Smaller cases that still fail."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

from lxml import etree

from penstock.errors import PenstockError
from penstock_testing.adversary.xscl.cases import Arrival, Case
from penstock_testing.adversary.xscl.syntax import (
    Block,
    Element,
    Operator,
    Path,
    Query,
    Step,
    Term,
)

SHRINK_SECONDS = 20.0

T = TypeVar("T")


def shrink(case: Case, still_fails: Callable[[Case], bool]) -> Case:
    """Return a case in which nothing can be left out any more without its failure."""
    deadline = time.monotonic() + SHRINK_SECONDS
    is_smaller = True
    while is_smaller:
        is_smaller = False
        for candidate in _candidates(case):
            if time.monotonic() > deadline:
                return case
            if _fails(candidate, still_fails):
                case, is_smaller = candidate, True
                break
    return case


def _fails(case: Case, still_fails: Callable[[Case], bool]) -> bool:
    try:
        return still_fails(case)
    except (PenstockError, LookupError, ValueError):
        # A part that is needed was left out, a variable for instance.
        return False


def _candidates(case: Case) -> Iterator[Case]:
    """Yield cases that are smaller by one thing, the large things first."""
    for number in range(len(case.queries)):
        if len(case.queries) > 1:
            yield replace(case, queries=_without(case.queries, number))
    for number in range(len(case.arrivals)):
        yield replace(case, arrivals=_without(case.arrivals, number))
    if case.lateness is not None:
        yield replace(case, lateness=None)
    if case.depth_max is not None:
        yield replace(case, depth_max=None)
    if case.way != "shared":
        yield replace(case, way="shared")
    for number, query in enumerate(case.queries):
        for smaller in _queries(query):
            yield replace(case, queries=_with(case.queries, number, smaller))
    for number, arrival in enumerate(case.arrivals):
        for one in _arrivals(arrival):
            yield replace(case, arrivals=_with(case.arrivals, number, one))


def _without(items: tuple[T, ...], number: int) -> tuple[T, ...]:
    return items[:number] + items[number + 1 :]


def _with(items: tuple[T, ...], number: int, item: T) -> tuple[T, ...]:
    return (*items[:number], item, *items[number + 1 :])


def _queries(query: Query) -> Iterator[Query]:
    if query.operators:
        yield replace(query, operators=query.operators[:-1])
    if query.publish is not None:
        yield replace(query, publish=None)
    if query.select is not None:
        yield replace(query, select=None)
    if isinstance(query.select, Element):
        yield from (replace(query, select=one) for one in _elements(query.select))
    elif query.select:
        for number in range(len(query.select)):
            yield replace(query, select=_without(query.select, number))
    yield from (replace(query, first=one) for one in _blocks(query.first))
    for number, operator in enumerate(query.operators):
        for smaller in _operators(operator):
            yield replace(query, operators=_with(query.operators, number, smaller))


def _operators(operator: Operator) -> Iterator[Operator]:
    for number, term in enumerate(operator.terms):
        if len(operator.terms) > 1:
            yield replace(operator, terms=_without(operator.terms, number))
        for plain in _terms(term):
            yield replace(operator, terms=_with(operator.terms, number, plain))
    if operator.window != "INF":
        yield replace(operator, window="INF")
    yield from (replace(operator, block=one) for one in _blocks(operator.block))


def _terms(term: Term) -> Iterator[Term]:
    if term.left.path:
        yield replace(term, left=replace(term.left, path=()))
    if term.right.path:
        yield replace(term, right=replace(term.right, path=()))


def _blocks(block: Block) -> Iterator[Block]:
    if block.document is not None and block.path:
        yield replace(block, document=None)
    if len(block.path) > 1:
        yield replace(block, path=block.path[1:])
    yield from (replace(block, path=path) for path in _paths(block.path))


def _paths(path: Path) -> Iterator[Path]:
    for number, step in enumerate(path):
        yield from (_with(path, number, smaller) for smaller in _steps(step))


def _steps(step: Step) -> Iterator[Step]:
    for number, branch in enumerate(step.branches):
        yield replace(step, branches=_without(step.branches, number))
        for path in _paths(branch):
            yield replace(step, branches=_with(step.branches, number, path))
    if step.conditions:
        yield replace(step, conditions=())
    if step.variable is not None:
        yield replace(step, variable=None)


def _elements(element: Element) -> Iterator[Element]:
    for number in range(len(element.attributes)):
        yield replace(element, attributes=_without(element.attributes, number))
    for number, part in enumerate(element.content):
        yield replace(element, content=_without(element.content, number))
        if isinstance(part, Element):
            for smaller in _elements(part):
                yield replace(element, content=_with(element.content, number, smaller))


def _arrivals(arrival: Arrival) -> Iterator[Arrival]:
    """Yield arrivals whose document is smaller."""
    if arrival.xml is None:
        return
    try:
        count = len(list(etree.fromstring(arrival.xml.encode()).iter()))
    except etree.XMLSyntaxError:
        return
    for place in range(count):
        for change in (_remove, _unwrap, _strip):
            root = etree.fromstring(arrival.xml.encode())
            smaller = change(root, list(root.iter())[place])
            if smaller is not None:
                yield replace(arrival, xml=etree.tostring(smaller, encoding="unicode"))


def _remove(root: etree._Element, node: etree._Element) -> etree._Element | None:
    parent = node.getparent()
    if parent is None:
        return None
    parent.remove(node)
    return root


def _unwrap(root: etree._Element, node: etree._Element) -> etree._Element | None:
    """Return a child of the root as the document."""
    if node.getparent() is not root or not isinstance(node.tag, str):
        return None
    node.tail = None
    return node


def _strip(root: etree._Element, node: etree._Element) -> etree._Element | None:
    if not node.attrib:
        return None
    del node.attrib[list(node.attrib)[-1]]
    return root
