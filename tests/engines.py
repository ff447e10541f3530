"""Every engine that evaluates XPath over one document, behind one signature.

An answer is a list of (kind, start, end, value) in document order, or an atomic value. The value
of an element or of the document is its source text, that of any other node its string value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import penstock
from penstock.languages.xpath import xpath
from penstock.languages.xpath.frontend import Select
from penstock.twigs import NodeKind
from penstock_testing.peers.answers import same
from penstock_testing.reference import Atomic, beside, evaluate
from penstock_testing.tree import Node, Tree, parse

Found = tuple[str, int, int, str]
Answer = list[Found] | Atomic
Bindings = dict[str, str | None]

_WHOLE = (NodeKind.ELEMENT, NodeKind.DOCUMENT)


def describe(node: Node, tree: Tree) -> Found:
    """Return a node of a tree as an engine would report it."""
    value = tree.text(node) if node.kind in _WHOLE else node.string_value()
    return (node.kind.value, node.start, node.end, value)


class Ask(Protocol):
    """Asks an engine; ``options`` are the context and the variables of a query."""

    def __call__(
        self, expression: str, document: bytes, namespaces: Mapping[str, str], **options: Any
    ) -> Answer: ...


class AskBeside(Protocol):
    """Asks an engine for the values beside each result, in document order."""

    def __call__(self, expression: str, document: bytes, select: Select) -> list[Bindings]: ...


def ask_reference(
    expression: str, document: bytes, namespaces: Mapping[str, str], **options: Any
) -> Answer:
    """Return the answer of the reference evaluator."""
    tree = parse(document)
    found = evaluate(xpath(expression, namespaces=namespaces, **options), tree)
    return [describe(node, tree) for node in found] if isinstance(found, list) else found


def ask_kernel(
    expression: str, document: bytes, namespaces: Mapping[str, str], **options: Any
) -> Answer:
    """Return the answer of the engine itself."""
    found = penstock.evaluate(expression, document, namespaces=namespaces, **options)
    if isinstance(found, list):
        return [(row.kind, row.start, row.end, row.value) for row in found]
    return found


def beside_reference(expression: str, document: bytes, select: Select) -> list[Bindings]:
    """Return what the reference evaluator finds beside each result."""
    found = beside(xpath(expression, select=select), parse(document))
    return [{name: _text(value) for name, value in bound.items()} for _, bound in found]


def _text(value: object) -> str | None:
    if isinstance(value, list):
        return value[0].string_value() if value else None
    assert isinstance(value, str), "what is no set is text"
    return value


def beside_kernel(expression: str, document: bytes, select: Select) -> list[Bindings]:
    """Return what the engine reports beside each result."""
    registry = penstock.Registry()
    registry.add("q", penstock.xpath(expression, select=select))
    rows = penstock.Engine(registry).run(document, order="document")
    return [dict(row.bindings or {}) for row in rows]


def identical(found: object, expected: object) -> bool:
    """Return whether two engines of ours gave the same answer, numbers but for rounding."""
    if isinstance(found, float) and isinstance(expected, float):
        return same(found, expected)
    return type(found) is type(expected) and found == expected


ENGINES: dict[str, Ask] = {"reference": ask_reference, "kernel": ask_kernel}
BESIDE: dict[str, AskBeside] = {"reference": beside_reference, "kernel": beside_kernel}
