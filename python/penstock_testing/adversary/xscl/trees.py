"""Documents as trees of plain objects, made by lxml, with the few axes that blocks have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from lxml import etree

from penstock_testing.adversary.xscl.syntax import NAMESPACES, Path, Step

Shape = tuple[Any, ...]
"""An element as nested tuples: expanded name, attributes, and content with adjacent texts as one.

Two elements have equal shapes if they are the same XML, however they are written.
"""


@dataclass(eq=False, slots=True)
class Node:
    """A node of a document. Nodes are equal only to themselves."""

    kind: str
    name: str
    value: str
    element: Any = None
    children: list[Node] = field(default_factory=list)
    attributes: list[Node] = field(default_factory=list)

    def string(self) -> str:
        """Return the string value, by XPath."""
        if self.kind in ("document", "element"):
            return "".join(
                child.string()
                for child in self.children
                if child.kind not in ("comment", "processing-instruction")
            )
        return self.value

    def below(self) -> Iterator[Node]:
        """Yield everything below the node."""
        for child in self.children:
            yield child
            yield from child.below()


def read(xml: bytes) -> Node:
    """Return the document node of a document."""
    root = etree.fromstring(xml)
    document = Node("document", "", "", root)
    before = list(root.itersiblings(preceding=True))
    for top in [*reversed(before), root, *root.itersiblings()]:
        document.children.append(_node(top))
    return document


def _node(element: Any) -> Node:
    if element.tag is etree.Comment:
        return Node("comment", "", element.text or "")
    if element.tag is etree.ProcessingInstruction:
        return Node("processing-instruction", element.target, element.text or "")
    node = Node("element", element.tag, "", element)
    node.attributes = [Node("attribute", name, text) for name, text in element.attrib.items()]
    if element.text:
        node.children.append(Node("text", "", element.text))
    for child in element:
        node.children.append(_node(child))
        if child.tail:
            node.children.append(Node("text", "", child.tail))
    return node


def reach(nodes: list[Node], step: Step) -> list[Node]:
    """Return the nodes that a step reaches from nodes, each once."""
    found: dict[int, Node] = {}
    for node in nodes:
        for other in _on_axis(node, step):
            if id(other) not in found and _passes(other, step):
                found[id(other)] = other
    return list(found.values())


def follow(node: Node, path: Path) -> list[Node]:
    """Return the nodes that a path reaches from a node."""
    nodes = [node]
    for step in path:
        nodes = reach(nodes, step)
    return nodes


def _on_axis(node: Node, step: Step) -> Iterator[Node]:
    if step.axis == ".":
        yield node
    elif step.test.startswith("@"):
        yield from node.attributes
        if step.axis == "//":
            for other in node.below():
                yield from other.attributes
    elif step.axis == "/":
        yield from node.children
    else:
        yield from node.below()


def _passes(node: Node, step: Step) -> bool:
    if step.axis != "." and not _is_named(node, step.test.removeprefix("@")):
        return False
    return all(holds(node, condition) for condition in step.conditions)


def _is_named(node: Node, test: str) -> bool:
    match test:
        case "node()":
            return True
        case "text()":
            return node.kind == "text"
        case "comment()":
            return node.kind == "comment"
        case "*":
            return node.kind in ("element", "attribute")
    prefix, _, local = test.rpartition(":")
    return node.name == (f"{{{NAMESPACES[prefix]}}}{local}" if prefix else local)


def holds(node: Node, condition: str) -> bool:
    """Return whether an XPath condition holds at a node; only what has children has conditions."""
    if node.kind == "document":
        # lxml begins at the root element, so the document node is reached from there.
        return bool(_compiled(f"/self::node()[{condition}]")(node.element))
    return node.kind == "element" and bool(_compiled(condition)(node.element))


@lru_cache(maxsize=4096)
def _compiled(condition: str) -> Any:
    return etree.XPath(f"boolean({condition})", namespaces=NAMESPACES)


def shape_of(node: Node) -> Shape:
    """Return the shape of a node; whatever has only a value gives that as text."""
    if node.kind == "document":
        (node,) = (child for child in node.children if child.kind == "element")
    if node.kind != "element":
        return (node.string(),) if node.string() else ()
    attributes = tuple(sorted((one.name, one.value) for one in node.attributes))
    content = [part for child in node.children for part in _content(child)]
    return ((node.name, attributes, joined(content)),)


def _content(node: Node) -> Shape:
    if node.kind in ("comment", "processing-instruction"):
        return ((node.kind, node.name, node.value),)
    return shape_of(node)


def joined(content: list[Any]) -> Shape:
    """Return content with adjacent texts as one."""
    parts: list[Any] = []
    for part in content:
        if isinstance(part, str) and parts and isinstance(parts[-1], str):
            parts[-1] += part
        elif part != "":
            parts.append(part)
    return tuple(parts)


def depth_of(shape: Shape) -> int:
    """Return how deep the elements of a shape are nested."""
    return max((1 + depth_of(part[2]) for part in shape if _is_element(part)), default=0)


def _is_element(part: object) -> bool:
    return isinstance(part, tuple) and len(part) == 3 and isinstance(part[2], tuple)


def tree_of(shape: Shape) -> Node:
    """Return the document whose root has a shape."""
    ((name, attributes, content),) = shape
    root = etree.Element(name, dict(attributes))
    _fill(root, content)
    return read(etree.tostring(root))


def _fill(element: Any, content: Shape) -> None:
    last = None
    for part in content:
        if isinstance(part, str):
            if last is None:
                element.text = (element.text or "") + part
            else:
                last.tail = (last.tail or "") + part
        elif _is_element(part):
            last = etree.SubElement(element, part[0], dict(part[1]))
            _fill(last, part[2])
        elif part[0] == "comment":
            last = etree.Comment(part[2])
            element.append(last)
        else:
            last = etree.ProcessingInstruction(part[1], part[2])
            element.append(last)
