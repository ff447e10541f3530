"""Joined events as they leave the joins, and the XML that they become."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from penstock.twigs import Element, Event, Group, Insert, Literal
from penstock.twigs.outputs import Content

ROOT = "event"
"""The new root of an event whose SELECT has no constructor."""


@dataclass(frozen=True, slots=True)
class JoinedNode:
    """A selected node: its document, its range there, its text as it stands alone, its value."""

    document: str
    start: int
    end: int
    text: str
    value: str


@dataclass(frozen=True, slots=True)
class Joined:
    """One result: documents in block order with their event times, and the selected nodes."""

    subscription: int
    documents: tuple[str, ...]
    times_us: tuple[int, ...]
    time_us: int
    ordinal: int
    nodes: tuple[JoinedNode, ...]

    @property
    def ranges(self) -> tuple[tuple[str, int, int], ...]:
        """The selected nodes as documents and byte ranges."""
        return tuple((node.document, node.start, node.end) for node in self.nodes)

    @property
    def latest(self) -> str:
        """The document with the latest event time; of several, the last in block order."""
        place = max(range(len(self.documents)), key=lambda at: (self.times_us[at], at))
        return self.documents[place]


Renderer = Callable[[Sequence[JoinedNode]], str]


def renderer_of(event: Event) -> Renderer:
    """Return what makes the XML of an event of its selected nodes."""
    places = {name: place for place, name in enumerate(event.select)}
    content = event.content or (Element(ROOT, content=tuple(map(Insert, event.select))),)
    return lambda nodes: "".join(_render(item, nodes, places) for item in content)


def _render(item: Content, nodes: Sequence[JoinedNode], places: dict[str, int]) -> str:
    match item:
        case Literal(text):
            return escape(text)
        case Insert(variable, as_value):
            node = nodes[places[variable]]
            return escape(node.value) if as_value else node.text
        case Element(name, attributes, content):
            written = "".join(
                f" {key}={quoteattr(_attribute(value, nodes, places))}" for key, value in attributes
            )
            inner = "".join(_render(part, nodes, places) for part in content)
            return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"
        case Group():
            raise TypeError("an event has one node for each variable, and no groups")


def _attribute(
    value: Sequence[Content], nodes: Sequence[JoinedNode], places: dict[str, int]
) -> str:
    parts = []
    for item in value:
        assert isinstance(item, Literal | Insert), "attribute values are text and values"
        parts.append(item.text if isinstance(item, Literal) else nodes[places[item.variable]].value)
    return "".join(parts)
