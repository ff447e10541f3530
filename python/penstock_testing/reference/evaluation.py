"""Queries over one document: nodes, aggregates and values."""

from __future__ import annotations

import math
from typing import cast

from penstock.twigs import Aggregate, Fragments, Query, Value
from penstock.twigs.expressions import Atom, Expression, Nodes, Selection
from penstock_testing.reference.expressions import (
    Context,
    Scope,
    nodes_in,
    reached,
    spine_to,
    value_at,
)
from penstock_testing.reference.paths import in_document_order
from penstock_testing.reference.values import Atomic, to_number
from penstock_testing.reference.witnesses import bound, matches_of
from penstock_testing.tree import Node, Tree


def evaluate(query: Query, tree: Tree) -> list[Node] | Atomic:
    """Return what a query selects from a document.

    Fragments give nodes in document order; an aggregate or a value gives a number, a string or a
    boolean. Messages and joined events have functions of their own.
    """
    match query.output:
        case Fragments(variable):
            return nodes_of(query, tree, variable)
        case Aggregate(function, variable):
            return aggregate(function, nodes_of(query, tree, variable))
        case Value(atom):
            return value_at(atom, context_of(query, tree))
        case Selection(aggregate=str(function)):
            return aggregate(function, selected(query, tree))
        case Selection(type=None):
            return selected(query, tree)
        case Selection(expression):
            return value_at(cast("Atom", expression), context_of(query, tree))
    raise TypeError(f"{type(query.output).__name__} is no output of a single document")


def nodes_of(query: Query, tree: Tree, variable: str) -> list[Node]:
    """Return the nodes bound to a variable of a query of one block."""
    (block,) = query.blocks
    scope = Scope(tree.root, query.constants)
    found: list[Node] = []
    for twig in block.alternatives:
        spine = spine_to(variable, twig)
        assert spine is not None, f"no variable {variable}"
        found.extend(reached(spine, tree.root, scope))
    return in_document_order(found)


def selected(query: Query, tree: Tree) -> list[Node]:
    """Return the nodes of a query whose output is an expression for nodes."""
    assert isinstance(query.output, Selection)
    return nodes_in(cast("Nodes", query.output.expression), context_of(query, tree))


def context_of(query: Query, tree: Tree) -> Context:
    """Return the context of a whole query: the document node."""
    return Context(tree.root, Scope(tree.root, query.constants, tree.ids))


def beside(query: Query, tree: Tree) -> list[tuple[Node, dict[str, list[Node] | Atomic]]]:
    """Return each selected node with what travels with it: nodes of variables or sets, or text."""
    output = query.output
    if isinstance(output, Selection):
        context = context_of(query, tree)
        return [
            (node, {name: _at(value, context.at(node)) for name, value in output.beside})
            for node in selected(query, tree)
        ]
    assert isinstance(output, Fragments)
    (block,) = query.blocks
    forest = matches_of(block, Scope(tree.root, query.constants))
    return [
        (node, {name: bound(forest, name, {output.variable: node}) for name in output.beside})
        for node in bound(forest, output.variable)
    ]


def _at(expression: Expression, context: Context) -> list[Node] | Atomic:
    if isinstance(expression, Nodes):
        return nodes_in(expression, context)
    return value_at(expression, context)


def aggregate(function: str, nodes: list[Node]) -> float:
    """Return ``count sum avg min max`` of nodes.

    What is no number makes everything but the count NaN, and so does an empty set for ``avg``,
    ``min`` and ``max``.
    """
    if function == "count":
        return float(len(nodes))
    numbers = [to_number(node.string_value()) for node in nodes]
    if function == "sum":
        return sum(numbers, 0.0)
    if not numbers or any(map(math.isnan, numbers)):
        return math.nan
    match function:
        case "avg":
            return sum(numbers, 0.0) / len(numbers)
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
    raise ValueError(f"no aggregate {function!r}")
