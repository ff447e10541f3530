"""Axes and node tests over trees."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from penstock.twigs import Axis, NodeKind, NodeTest
from penstock_testing.tree import Node

BESIDE_CONTENT = (NodeKind.ATTRIBUTE, NodeKind.NAMESPACE)
"""The kinds of nodes that have a parent and are no children of it."""


def nodes_on(axis: Axis, node: Node) -> Iterable[Node]:
    """Return the nodes on an axis: in document order on a forward axis, else in reverse order."""
    match axis:
        case Axis.SELF:
            return (node,)
        case Axis.CHILD:
            return node.children
        case Axis.DESCENDANT:
            return node.descendants()
        case Axis.DESCENDANT_OR_SELF:
            return (node, *node.descendants())
        case Axis.ATTRIBUTE:
            return node.attributes
        case Axis.PARENT:
            return () if node.parent is None else (node.parent,)
        case Axis.ANCESTOR:
            return _ancestors(node)
        case Axis.ANCESTOR_OR_SELF:
            return (node, *_ancestors(node))
        case Axis.FOLLOWING_SIBLING:
            return _siblings(node, after=True)
        case Axis.PRECEDING_SIBLING:
            return _siblings(node, after=False)
        case Axis.FOLLOWING:
            return _following(node)
        case Axis.PRECEDING:
            return _preceding(node)
        case Axis.NAMESPACE:
            return node.namespaces


def passes(test: NodeTest, node: Node) -> bool:
    """Return whether a node is what the test asks for."""
    if test.kind is not NodeKind.ANY and test.kind is not node.kind:
        return False
    if test.local is not None and test.local != node.local:
        return False
    return test.uris is None or any(_uri_passes(uri, node.uri) for uri in test.uris)


def in_document_order(nodes: Iterable[Node]) -> list[Node]:
    """Return each node once, in document order."""
    return sorted(set(nodes), key=lambda node: node.order)


def _uri_passes(pattern: str, uri: str) -> bool:
    if "*" not in pattern:
        return pattern == uri
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), uri, re.DOTALL) is not None


def _ancestors(node: Node) -> Iterator[Node]:
    while node.parent is not None:
        node = node.parent
        yield node


def _siblings(node: Node, after: bool) -> list[Node]:
    if node.parent is None or node.kind in BESIDE_CONTENT:
        return []
    siblings = node.parent.children
    place = siblings.index(node)
    return siblings[place + 1 :] if after else siblings[:place][::-1]


def _following(node: Node) -> Iterator[Node]:
    if node.kind in BESIDE_CONTENT and node.parent is not None:
        yield from node.parent.descendants()
        node = node.parent
    for level in (node, *_ancestors(node)):
        for sibling in _siblings(level, after=True):
            yield sibling
            yield from sibling.descendants()


def _preceding(node: Node) -> Iterator[Node]:
    for level in (node, *_ancestors(node)):
        for sibling in _siblings(level, after=False):
            yield from reversed([sibling, *sibling.descendants()])
