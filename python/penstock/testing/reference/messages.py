"""Constructed messages: what a ``return`` clause makes of the bindings of a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from penstock.testing.reference.conditions import Scope, holds
from penstock.testing.reference.witnesses import Bindings, Match, bound, matches_of
from penstock.testing.tree import Node, Tree
from penstock.twigs import Element, Group, Insert, Literal, Message, NodeKind, Query
from penstock.twigs.outputs import Content


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


@dataclass(frozen=True, slots=True)
class _Maker:
    tree: Tree
    scope: Scope
    forest: Sequence[Match]

    def tuples(self, each: Sequence[str], around: Bindings) -> Iterator[Bindings]:
        if not each:
            yield around
            return
        for node in bound(self.forest, each[0], around):
            yield from self.tuples(each[1:], {**around, each[0]: node})

    def render(self, content: Sequence[Content], around: Bindings) -> str:
        return "".join(self._render(item, around) for item in content)

    def _render(self, item: Content, around: Bindings) -> str:
        match item:
            case Literal(text):
                return escape(text)
            case Insert(variable, as_value):
                nodes = bound(self.forest, variable, around)
                if as_value:
                    return escape(" ".join(node.string_value() for node in nodes))
                return "".join(map(self._copy, nodes))
            case Element():
                return self._element(item, around)
            case Group(variable, content, where):
                nodes = bound(self.forest, variable, around)
                return "".join(
                    self.render(content, {**around, variable: node})
                    for node in nodes
                    if where is None or holds(where, node, self.scope)
                )

    def _element(self, element: Element, around: Bindings) -> str:
        attributes = "".join(
            f" {name}={quoteattr(self._attribute(content, around))}"
            for name, content in element.attributes
        )
        content = self.render(element.content, around)
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
                    nodes = bound(self.forest, variable, around)
                    parts.append(" ".join(node.string_value() for node in nodes))
                case _:
                    raise NotImplementedError("an element inside an attribute value")
        return "".join(parts)

    def _copy(self, node: Node) -> str:
        if node.kind is NodeKind.TEXT:
            return escape(node.value)
        if node.kind is NodeKind.ATTRIBUTE:
            raise NotImplementedError("an attribute node as content")
        return self.tree.text(node)
