"""Joined events as they leave the joins, and the XML that they become."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from penstock.kernel import Surroundings, escape, quote
from penstock.results import KINDS
from penstock.twigs import Element, Event, Group, Insert, Literal
from penstock.twigs.outputs import Content

ROOT = "event"
"""The new root of an event whose SELECT has no constructor."""


class JoinedNode(NamedTuple):
    """A selected node: its document, its range there, what it is, and its value.

    ``text`` is the node as it stands alone; what is no element has its value there, escaped.
    """

    document: str
    start: int
    end: int
    kind: str
    name: str
    text: str
    value: str
    place: str
    """The document and the range as a row's ``bindings`` have them."""

    @classmethod
    def of(cls, document: str, start: int, end: int, selected: str, value: str) -> JoinedNode:
        """Return a node as the kernel gives it: the digit of its kind, its name, a zero, text."""
        name, _, text = selected[1:].partition("\0")
        kind = KINDS[int(selected[0])] if selected else "element"
        # A node is a part of many results, so its place is written once.
        return cls(document, start, end, kind, name, text, value, f"{document}[{start}-{end}]")


class Joined(NamedTuple):
    """One result: documents in block order with their event times, and the selected nodes.

    ``numbers`` tell the documents apart, where several have one id.
    """

    subscription: int
    documents: tuple[str, ...]
    numbers: tuple[int, ...]
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
        times = self.times_us
        latest = max(times)
        at = len(times) - 1
        while times[at] != latest:
            at -= 1
        return self.documents[at]


Renderer = Callable[[Sequence[JoinedNode]], str]

_NO_NAMESPACE = Surroundings({"": ""}, {})


def renderer_of(event: Event) -> Renderer:
    """Return what makes the XML of an event of its selected nodes."""
    places = {name: place for place, name in enumerate(event.select)}
    content = event.content or (Element(ROOT, content=tuple(map(Insert, event.select))),)
    return _renderer(content, places, "")


def _renderer(content: Sequence[Content], places: Mapping[str, int], default: str) -> Renderer:
    """Return what writes content; ``default`` is the default namespace of what is around it."""
    makers = [_maker(item, places, default) for item in content]
    if len(makers) == 1:
        return makers[0]
    return lambda nodes: "".join([make(nodes) for make in makers])


def _maker(item: Content, places: Mapping[str, int], default: str) -> Renderer:
    match item:
        case Literal(text):
            written = escape(text)
            return lambda nodes: written
        case Insert(variable, as_value):
            place = places[variable]
            if as_value:
                return lambda nodes: escape(nodes[place].value)
            if default:
                return lambda nodes: _without_default(nodes[place])
            return lambda nodes: nodes[place].text
        case Element():
            return _element(item, places, default)
        case Group():
            raise TypeError("an event has one node for each variable, and no groups")


def _without_default(node: JoinedNode) -> str:
    """Return a node so that its names without a prefix stay as they are: in no namespace."""
    if node.kind not in ("element", "document"):
        return node.text
    return _NO_NAMESPACE.serialize("element", node.name, node.text)


def _element(element: Element, places: Mapping[str, int], default: str) -> Renderer:
    name = element.name
    attributes = [_attribute(key, value, places) for key, value in element.attributes]
    # A namespace is declared by literals alone.
    declared = [value for key, value in element.attributes if key == "xmlns"]
    for value in declared:
        default = "".join(item.text for item in value if isinstance(item, Literal))
    content = _renderer(element.content, places, default)

    def make(nodes: Sequence[JoinedNode]) -> str:
        written = "".join([make(nodes) for make in attributes]) if attributes else ""
        inner = content(nodes)
        return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"

    return make


def _attribute(key: str, value: Sequence[Content], places: Mapping[str, int]) -> Renderer:
    parts: list[str | int] = []
    for item in value:
        assert isinstance(item, Literal | Insert), "attribute values are text and values"
        parts.append(item.text if isinstance(item, Literal) else places[item.variable])

    def make(nodes: Sequence[JoinedNode]) -> str:
        texts = [part if isinstance(part, str) else nodes[part].value for part in parts]
        return f" {key}={quote(''.join(texts))}"

    return make
