"""Every engine that evaluates XPath over one document, behind one signature.

An answer is a list of (kind, start, end, value) in document order, or an atomic value. The value
of an element or of the document is its source text, that of any other node its string value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import penstock
from penstock.languages.xpath import xpath
from penstock.testing.reference import Atomic, evaluate
from penstock.testing.tree import Node, Tree, parse
from penstock.twigs import NodeKind

Found = tuple[str, int, int, str]
Answer = list[Found] | Atomic
Ask = Callable[[str, bytes, Mapping[str, str]], Answer]

_WHOLE = (NodeKind.ELEMENT, NodeKind.DOCUMENT)


def describe(node: Node, tree: Tree) -> Found:
    """Return a node of a tree as an engine would report it."""
    value = tree.text(node) if node.kind in _WHOLE else node.string_value()
    return (node.kind.value, node.start, node.end, value)


def ask_reference(expression: str, document: bytes, namespaces: Mapping[str, str]) -> Answer:
    """Return the answer of the reference evaluator."""
    tree = parse(document)
    found = evaluate(xpath(expression, namespaces=namespaces), tree)
    return [describe(node, tree) for node in found] if isinstance(found, list) else found


def ask_kernel(expression: str, document: bytes, namespaces: Mapping[str, str]) -> Answer:
    """Return the answer of the engine itself."""
    found = penstock.evaluate(expression, document, namespaces=namespaces)
    if isinstance(found, list):
        return [(row.kind, row.start, row.end, row.value) for row in found]
    return found


ENGINES: dict[str, Ask] = {"reference": ask_reference, "kernel": ask_kernel}
