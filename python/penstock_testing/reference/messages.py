"""Constructed messages: what a ``return`` clause makes of the bindings of a document."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape, quoteattr

from penstock.twigs import Element, Group, Insert, Literal, Message, NodeKind, Query
from penstock.twigs.outputs import Content
from penstock_testing.reference.expressions import Scope, holds
from penstock_testing.reference.witnesses import Bindings, Match, bound, matches_of
from penstock_testing.tree import Node, Tree

REFERENCES = {"\r": "&#13;"}
"""A parser would read the character as a line feed."""


def messages(query: Query, tree: Tree) -> list[str]:
    """Return the messages of a query over one document, in the order of the bindings."""
    output = query.output
    assert isinstance(output, Message)
    (block,) = query.blocks
    scope = Scope(tree.root, query.constants)
    maker = _Maker(tree, scope, matches_of(block, scope))
    made = []
    for bindings in maker.tuples(output.each, {}):
        if all(holds(condition, bindings[name], scope) for name, condition in output.where):
            made.append(maker.render(output.content, bindings))
    return made


class Renderer(ABC):
    """Writes content; what is bound to a variable, and how a node is copied, is left open."""

    default = ""
    """The default namespace of the elements around what is written."""

    @abstractmethod
    def nodes(self, variable: str, around: Bindings) -> list[Node]:
        """Return the nodes of a variable under the bindings around it."""

    @abstractmethod
    def copy(self, node: Node) -> str:
        """Return a node as XML."""

    def holds(self, group: Group, node: Node) -> bool:
        """Return whether a group repeats for a node."""
        return group.where is None

    def render(self, content: Sequence[Content], around: Bindings) -> str:
        """Return content as XML."""
        return "".join(self._render(item, around) for item in content)

    def _render(self, item: Content, around: Bindings) -> str:
        match item:
            case Literal(text):
                return escape(text, REFERENCES)
            case Insert(variable, as_value):
                nodes = self.nodes(variable, around)
                if as_value:
                    return escape(" ".join(node.string_value() for node in nodes), REFERENCES)
                return "".join(map(self.copy, nodes))
            case Element():
                return self._element(item, around)
            case Group(variable, content):
                return "".join(
                    self.render(content, {**around, variable: node})
                    for node in self.nodes(variable, around)
                    if self.holds(item, node)
                )

    def _element(self, element: Element, around: Bindings) -> str:
        values = {name: self._attribute(value, around) for name, value in element.attributes}
        attributes = "".join(f" {name}={quoteattr(value)}" for name, value in values.items())
        outer, self.default = self.default, values.get("xmlns", self.default)
        content = self.render(element.content, around)
        self.default = outer
        if not content:
            return f"<{element.name}{attributes}/>"
        return f"<{element.name}{attributes}>{content}</{element.name}>"

    def _attribute(self, content: Sequence[Content], around: Bindings) -> str:
        parts = []
        for item in content:
            match item:
                case Literal(text):
                    parts.append(text)
                case Insert(variable):
                    nodes = self.nodes(variable, around)
                    parts.append(" ".join(node.string_value() for node in nodes))
                case _:
                    raise NotImplementedError("an element inside an attribute value")
        return "".join(parts)


class _Maker(Renderer):
    def __init__(self, tree: Tree, scope: Scope, forest: Sequence[Match]) -> None:
        self.tree = tree
        self.scope = scope
        self.forest = forest

    def tuples(self, each: Sequence[str], around: Bindings) -> Iterator[Bindings]:
        if not each:
            yield around
            return
        for node in bound(self.forest, each[0], around):
            yield from self.tuples(each[1:], {**around, each[0]: node})

    def nodes(self, variable: str, around: Bindings) -> list[Node]:
        return bound(self.forest, variable, around)

    def holds(self, group: Group, node: Node) -> bool:
        return group.where is None or holds(group.where, node, self.scope)

    def copy(self, node: Node) -> str:
        if node.kind is NodeKind.TEXT:
            return escape(node.value)
        if node.kind is NodeKind.ATTRIBUTE:
            raise NotImplementedError("an attribute node as content")
        return self.tree.text(node)
