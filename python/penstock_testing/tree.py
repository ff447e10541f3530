"""XML documents as trees of nodes, with the byte range of every node and the list of events."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from xml.parsers import expat

from penstock.twigs import NodeKind

XML = "http://www.w3.org/XML/1998/namespace"

_SEPARATOR = "\x01"  # no XML document can contain it, so no namespace name does
_TAG_END = re.compile(rb"""(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_ATTRIBUTE = re.compile(rb"""([^\s=/<>]+)\s*=\s*("[^"]*"|'[^']*')""")
_DECLARED = re.compile(rb"""<\?xml[^>]*?\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")


@dataclass(eq=False, slots=True)
class Node:
    """One node of the XPath data model; nodes are equal only to themselves.

    ``start`` and ``end`` are offsets into ``Tree.source``. ``value`` is the string value of
    whatever has no children. ``local`` is the target of an instruction and the prefix that a
    namespace node binds; a namespace node has the range of its element's start tag.
    """

    kind: NodeKind
    start: int
    end: int
    order: int
    parent: Node | None = None
    uri: str = ""
    prefix: str = ""
    local: str = ""
    value: str = ""
    namespaces: list[Node] = field(default_factory=list)
    attributes: list[Node] = field(default_factory=list)
    children: list[Node] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name as written, prefix included; empty where the kind has none."""
        return f"{self.prefix}:{self.local}" if self.prefix else self.local

    @property
    def expanded_name(self) -> str:
        """``{uri}local``, or ``local`` alone outside any namespace."""
        return f"{{{self.uri}}}{self.local}" if self.uri else self.local

    def descendants(self) -> Iterator[Node]:
        """Yield the nodes below this one in document order, attributes excluded."""
        waiting = self.children[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def string_value(self) -> str:
        """Return the string value of XPath 1.0, section 5."""
        if self.kind in (NodeKind.DOCUMENT, NodeKind.ELEMENT):
            return "".join(n.value for n in self.descendants() if n.kind is NodeKind.TEXT)
        return self.value

    def __repr__(self) -> str:
        return f"<{self.kind.value} {self.name or self.value[:12]!r} {self.start}..{self.end}>"


class EventKind(Enum):
    """What the tokenizer reports, in the order of the document."""

    START = "start"
    TEXT = "text"
    COMMENT = "comment"
    INSTRUCTION = "instruction"
    END = "end"
    DOCUMENT_END = "document-end"


@dataclass(frozen=True, slots=True)
class Event:
    """One event: ``offset`` is just past it. A text node is one event, at its end."""

    kind: EventKind
    node: Node
    offset: int


@dataclass(frozen=True, slots=True)
class Tree:
    """A document: its UTF-8 source, its document node, all nodes in order, all events.

    ``ids`` are the elements by the ids that the document type declaration or ``xml:id`` gives
    them; of two elements with one id the first has it.
    """

    source: bytes
    root: Node
    nodes: tuple[Node, ...]
    events: tuple[Event, ...]
    ids: Mapping[str, Node]

    def text(self, node: Node) -> str:
        """Return the source text of a node."""
        return self.source[node.start : node.end].decode()


def parse(source: bytes | str) -> Tree:
    """Return the tree of a document. External entities are never read.

    Raises:
        xml.parsers.expat.ExpatError: The document is not well-formed.
    """
    builder = _Builder(source.encode() if isinstance(source, str) else _to_utf8(source))
    builder.parser.Parse(builder.source, True)
    return builder.finish()


def _to_utf8(source: bytes) -> bytes:
    """Offsets count UTF-8 bytes, a byte order mark included, whatever the encoding."""
    if source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        little = source.startswith(codecs.BOM_UTF16_LE)
        return source.decode("utf-16-le" if little else "utf-16-be").encode()
    if source.startswith((b"\0<\0", b"<\0")):
        return source.decode("utf-16-le" if source[0] else "utf-16-be").encode()
    declared = _DECLARED.match(source)
    return source.decode(declared[1].decode()).encode() if declared else source


class _Builder:
    """Listens to expat and builds the tree.

    Whatever comes from an internal entity is reported by expat at its outermost reference, so a
    position whose byte is ``&`` stands for the range of that reference.
    """

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.root = Node(NodeKind.DOCUMENT, 0, len(source), 0)
        self.nodes = [self.root]
        self.events: list[Event] = []
        self.open = [self.root]
        self.pieces: list[tuple[str, int, int]] = []
        self.section: tuple[int, int] | None = None
        self.in_doctype = False
        self.bound: list[tuple[str, str]] = [("xml", XML)]
        self.id_attributes: set[tuple[str, str]] = set()
        self.ids: dict[str, Node] = {}
        self.parser = parser = expat.ParserCreate("utf-8", _SEPARATOR)
        parser.namespace_prefixes = True
        parser.ordered_attributes = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.StartNamespaceDeclHandler = self._bind
        parser.EndNamespaceDeclHandler = self._unbind
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._start_section
        parser.EndCdataSectionHandler = self._end_section
        parser.CommentHandler = self._comment
        parser.ProcessingInstructionHandler = self._instruction
        parser.StartDoctypeDeclHandler = self._start_doctype
        parser.EndDoctypeDeclHandler = self._end_doctype
        parser.AttlistDeclHandler = self._declare_attribute

    def finish(self) -> Tree:
        self.events.append(Event(EventKind.DOCUMENT_END, self.root, len(self.source)))
        return Tree(self.source, self.root, tuple(self.nodes), tuple(self.events), self.ids)

    def _extent(self, closer: bytes, skip: int) -> tuple[int, int]:
        """The range of the markup at hand, which ends with the first ``closer``."""
        start = self.parser.CurrentByteIndex
        if self.source[start : start + 1] == b"&":
            return start, self.source.index(b";", start) + 1
        return start, self.source.index(closer, start + skip) + len(closer)

    def _add(self, kind: NodeKind, span: tuple[int, int], name: str = "", value: str = "") -> Node:
        uri, local, prefix = _split(name)
        node = Node(kind, *span, len(self.nodes), self.open[-1], uri, prefix, local, value)
        self.nodes.append(node)
        parent = self.open[-1]
        lists = {NodeKind.ATTRIBUTE: parent.attributes, NodeKind.NAMESPACE: parent.namespaces}
        lists.get(kind, parent.children).append(node)
        return node

    def _leaf(self, event: EventKind, node: Node) -> None:
        self.events.append(Event(event, node, node.end))

    def _flush(self) -> None:
        pieces, self.pieces = self.pieces, []
        if pieces:
            value = "".join(text for text, _, _ in pieces)
            self._leaf(
                EventKind.TEXT,
                self._add(NodeKind.TEXT, (pieces[0][1], pieces[-1][2]), value=value),
            )

    def _start(self, name: str, attributes: list[str]) -> None:
        self._flush()
        start = self.parser.CurrentByteIndex
        if self.source[start : start + 1] == b"&":
            span = self._extent(b";", 0)
        else:
            tag = _TAG_END.match(self.source, start)
            assert tag is not None
            span = tag.span()
        element = self._add(NodeKind.ELEMENT, span, name)
        self.open.append(element)
        for prefix, uri in sorted(dict(self.bound).items(), key=lambda item: _rank(item[0])):
            if uri:
                self._add(NodeKind.NAMESPACE, span, prefix, uri)
        written = {
            found[1].decode(): (start + found.start(), start + found.end())
            for found in _ATTRIBUTE.finditer(self.source[start : span[1]])
        }
        for attribute, value in zip(attributes[::2], attributes[1::2], strict=True):
            node = self._add(NodeKind.ATTRIBUTE, span, attribute, value)
            node.start, node.end = written.get(node.name, span)
            if (element.name, node.name) in self.id_attributes or node.name == "xml:id":
                self.ids.setdefault(value.strip(" "), element)
        self.events.append(Event(EventKind.START, element, span[1]))

    def _end(self, name: str) -> None:
        self._flush()
        element = self.open.pop()
        if not self.source.endswith(b"/>", element.start, element.end):
            element.end = self._extent(b">", 0)[1]
        self.events.append(Event(EventKind.END, element, element.end))

    def _bind(self, prefix: str | None, uri: str | None) -> None:
        self.bound.append((prefix or "", uri or ""))

    def _unbind(self, prefix: str | None) -> None:
        self.bound.pop()

    def _characters(self, text: str) -> None:
        start = self.parser.CurrentByteIndex
        if self.section is not None:
            start, end = self.section
        elif self.source[start : start + 1] == b"&":
            end = self.source.index(b";", start) + 1
        else:
            ends = (self.source.find(b"<", start), self.source.find(b"&", start))
            end = min(position for position in ends if position >= 0)
        self.pieces.append((text, start, end))

    def _start_section(self) -> None:
        self.section = self._extent(b"]]>", 9)

    def _end_section(self) -> None:
        self.section = None

    def _comment(self, value: str) -> None:
        if not self.in_doctype:
            self._flush()
            comment = self._add(NodeKind.COMMENT, self._extent(b"-->", 4), value=value)
            self._leaf(EventKind.COMMENT, comment)

    def _instruction(self, target: str, value: str) -> None:
        if not self.in_doctype:
            self._flush()
            node = self._add(NodeKind.INSTRUCTION, self._extent(b"?>", 2), target, value)
            self._leaf(EventKind.INSTRUCTION, node)

    def _start_doctype(self, *_: object) -> None:
        self.in_doctype = True

    def _end_doctype(self) -> None:
        self.in_doctype = False

    def _declare_attribute(self, element: str, name: str, kind: str, *_: object) -> None:
        if kind == "ID":
            self.id_attributes.add((element, name))


def _rank(prefix: str) -> tuple[bool, str]:
    """The order of namespace nodes, which XPath leaves open: by prefix, ``xml`` last."""
    return prefix == "xml", prefix


def _split(name: str) -> tuple[str, str, str]:
    """Take expat's ``uri local prefix`` apart; only ``local`` is always there."""
    parts = name.split(_SEPARATOR)
    if len(parts) == 1:
        return "", parts[0], ""
    return parts[0], parts[1], parts[2] if len(parts) == 3 else ""
