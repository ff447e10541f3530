"""lxml, and with it libxml2, asked about a document that was read into a tree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lxml import etree

from penstock.twigs import NodeKind
from penstock_testing.peers.answers import Answer
from penstock_testing.tree import Node, Tree

_BESIDE_TEXT = (NodeKind.ELEMENT, NodeKind.COMMENT, NodeKind.INSTRUCTION)
_PARSER = etree.XMLParser(
    resolve_entities=True, attribute_defaults=True, no_network=True, huge_tree=True
)


class Libxml2:
    """A document in lxml. Its answers are nodes of the tree that the document was read into.

    lxml cannot return the document node, and does not say which element a namespace node
    belongs to. Such a node, and one that the tree has not, is answered with a node of its own.
    The context of an expression is the root element.

    Raises:
        etree.XMLSyntaxError: libxml2 refuses the document.
    """

    def __init__(self, tree: Tree) -> None:
        self.root = etree.fromstring(tree.source, _PARSER)
        before = list(self.root.itersiblings(preceding=True))[::-1]
        top = [*before, self.root, *self.root.itersiblings()]
        theirs = [node for above in top for node in above.iter()]
        ours = [node for node in tree.nodes if node.kind in _BESIDE_TEXT]
        # The nodes of lxml are equal only while somebody holds them.
        self._nodes: dict[Any, Node] = dict(zip(theirs, ours, strict=True))

    def ask(
        self,
        expression: str,
        namespaces: Mapping[str, str],
        variables: Mapping[str, Any] | None = None,
    ) -> Answer:
        """Return lxml's answer to an expression."""
        return self.evaluate(etree.XPath(expression, namespaces=dict(namespaces)), variables or {})

    def evaluate(self, compiled: etree.XPath, variables: Mapping[str, Any]) -> Answer:
        """Return lxml's answer to an expression that it has compiled."""
        found: Any = compiled(self.root, **variables)
        if isinstance(found, list):
            return [self._node_of(node) for node in found]
        return str(found) if isinstance(found, str) else found

    def _node_of(self, theirs: Any) -> Node:
        if isinstance(theirs, tuple):
            prefix, uri = theirs
            return Node(NodeKind.NAMESPACE, -1, -1, -1, local=prefix or "", value=uri)
        if not isinstance(theirs, str):
            return self._nodes.get(theirs) or _stray(theirs.text or "")
        parent = self._nodes.get(theirs.getparent())  # type: ignore[attr-defined]
        if parent is None:
            return _stray(theirs)
        if theirs.is_attribute:  # type: ignore[attr-defined]
            name = theirs.attrname  # type: ignore[attr-defined]
            return next(node for node in parent.attributes if node.expanded_name == name)
        around = parent.children
        if theirs.is_tail and parent.parent is not None:  # type: ignore[attr-defined]
            siblings = parent.parent.children
            around = siblings[siblings.index(parent) + 1 :]
        is_text = bool(around) and around[0].kind is NodeKind.TEXT
        return around[0] if is_text else _stray(theirs)


def _stray(value: str) -> Node:
    """Return a text or comment that libxml2 has and XPath 1.0 has not."""
    return Node(NodeKind.TEXT, -1, -1, -1, value=value)


def without_document(answer: Answer) -> Answer:
    """Return an answer without the document node, which lxml cannot return."""
    if not isinstance(answer, list):
        return answer
    return [node for node in answer if node.kind is not NodeKind.DOCUMENT]
