"""XSCL by brute force: all subscriptions over all documents, published events included.

This is the oracle of joins. It knows blocks, operators and event times, nothing of templates,
minors or arrival, and gives its outcomes as values that any engine's results compare with.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from penstock.kernel import Surroundings
from penstock.planning.templates import compile_join
from penstock.results import event_id
from penstock.twigs import Event, Fragments, NodeKind, Query
from penstock.twigs.outputs import Element, Insert
from penstock_testing.reference.evaluation import nodes_of
from penstock_testing.reference.joins import Arrival, events
from penstock_testing.reference.messages import REFERENCES, Renderer
from penstock_testing.reference.rows import evaluate_rows
from penstock_testing.reference.witnesses import Bindings
from penstock_testing.tree import Node, parse

Ranges = tuple[tuple[str, int, int], ...]

ROOT = "event"
"""The new root of an event whose SELECT has no constructor."""


@dataclass(frozen=True, slots=True, order=True)
class Outcome:
    """One result: the documents in block order, the selected ranges, and the XML of the event.

    Ranges are those of the selected nodes, each with its document. ``time`` is the event time of
    the latest part.
    """

    subscription: str
    documents: tuple[str, ...]
    time: float
    ranges: Ranges
    value: str

    @property
    def id(self) -> str:
        """The id of the document that the event becomes where it is published."""
        return event_id(self.subscription, self.documents, self.ranges)


Found = tuple[tuple[str, ...], float, tuple[Node, ...]]
"""The documents of a result, its event time and the selected nodes."""

Evaluate = Callable[[Query, Sequence[Arrival]], Iterable[Found]]


def by_brute_force(query: Query, arrivals: Sequence[Arrival]) -> Iterator[Found]:
    """Yield the results of a query, from all combinations of documents and bindings."""
    for joined, nodes in events(query, arrivals):
        yield joined.documents, joined.time, nodes


def by_rows(query: Query, arrivals: Sequence[Arrival]) -> Iterator[Found]:
    """Yield the results of a query from its compiled rows."""
    for kept in evaluate_rows(compile_join(query), arrivals):
        yield kept.documents, kept.time, kept.nodes


def run(
    queries: Mapping[str, Query],
    arrivals: Sequence[Arrival],
    evaluate: Evaluate = by_brute_force,
) -> list[Outcome]:
    """Return the outcomes of all subscriptions, those of publishers before those of readers.

    Raises:
        ValueError: The streams that subscriptions publish and read go round in a circle.
    """
    known = list(arrivals)
    found: list[Outcome] = []
    for name in _publishers_first(queries):
        query = queries[name]
        outcomes = list(_outcomes(name, query, known, evaluate))
        found += outcomes
        published = query.output.publish if isinstance(query.output, Event) else None
        if published is not None:
            known += [Arrival(o.id, parse(o.value), o.time, published) for o in outcomes]
    return found


def _outcomes(
    name: str, query: Query, arrivals: Sequence[Arrival], evaluate: Evaluate
) -> Iterator[Outcome]:
    trees = {id(arrival.tree.root): arrival for arrival in arrivals}
    assert len(trees) == len(arrivals), "every document has a tree of its own"
    if isinstance(query.output, Fragments):
        for arrival in arrivals:
            if query.blocks[0].stream in (None, arrival.stream):
                for node in nodes_of(query, arrival.tree, query.output.variable):
                    ranges: Ranges = ((arrival.id, node.start, node.end),)
                    is_xml = node.kind in (NodeKind.DOCUMENT, NodeKind.ELEMENT)
                    text = _Maker(trees).copy(node) if is_xml else node.string_value()
                    yield Outcome(name, (arrival.id,), arrival.time, ranges, text)
        return
    assert isinstance(query.output, Event)
    select = query.output.select
    content = query.output.content or (Element(ROOT, content=tuple(map(Insert, select))),)
    for documents, time, nodes in evaluate(query, arrivals):
        value = _Maker(trees).render(content, dict(zip(select, nodes, strict=True)))
        ranges = tuple((_arrival(node, trees).id, node.start, node.end) for node in nodes)
        yield Outcome(name, documents, time, ranges, value)


class _Maker(Renderer):
    """Copies elements as they are written, with the declarations in scope.

    Whatever has only a value gives its text.
    """

    def __init__(self, arrivals: Mapping[int, Arrival]) -> None:
        self.arrivals = arrivals

    def nodes(self, variable: str, around: Bindings) -> list[Node]:
        return [around[variable]]

    def copy(self, node: Node) -> str:
        if node.kind is NodeKind.DOCUMENT:
            (node,) = (child for child in node.children if child.kind is NodeKind.ELEMENT)
        if node.kind is NodeKind.ELEMENT:
            declarations = {"": ""} if self.default else {}
            declarations |= {one.local: one.value for one in node.namespaces}
            text = _arrival(node, self.arrivals).tree.text(node)
            return Surroundings(declarations, {}).serialize("element", "", text)
        return escape(node.string_value(), REFERENCES)


def _arrival(node: Node, arrivals: Mapping[int, Arrival]) -> Arrival:
    while node.parent is not None:
        node = node.parent
    return arrivals[id(node)]


def _publishers_first(queries: Mapping[str, Query]) -> list[str]:
    ordered: list[str] = []
    waiting = dict(queries)
    while waiting:
        published = {q.output.publish for q in waiting.values() if isinstance(q.output, Event)}
        ready = [
            name
            for name, query in waiting.items()
            if published.isdisjoint(block.stream for block in query.blocks if block.stream)
        ]
        if not ready:
            raise ValueError(f"{', '.join(waiting)} read what they publish")
        for name in ready:
            ordered.append(name)
            del waiting[name]
    return ordered
