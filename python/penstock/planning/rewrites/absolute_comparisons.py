"""Comparisons with an absolute set are made node by node.

``b = //k`` is ``b[. = //k]``: the circuit then only compares one node with a set that all nodes
share. A set that is known to be empty before the end of the document would decide the comparison
before the nodes of the other side have come, and stays where it is; there are few such sets, since
most grow as long as the document does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.twigs.expression_parts import own_parts, parts_of, with_parts
from penstock.twigs.expressions import (
    Atom,
    Expression,
    Filter,
    Here,
    Identified,
    Last,
    Nodes,
    NonEmpty,
    PairCompare,
    Position,
    Root,
    Step,
    Union,
)
from penstock.twigs.logic import FLIPPED
from penstock.twigs.nodetests import DOWN


def compare_node_by_node(expression: Expression) -> Any:
    """Return the expression with an absolute set beside the context node only."""
    parts = [compare_node_by_node(part) for part in parts_of(expression)]
    match with_parts(expression, parts):
        case PairCompare() as comparison:
            return _divided(comparison)
        case other:
            return other


def _divided(comparison: PairCompare) -> Atom:
    operator, left, right = comparison.operator, comparison.left, comparison.right
    if _is_absolute(left):
        operator, left, right = FLIPPED[operator], right, left
    if _is_absolute(left) or not (_is_absolute(right) and _grows(right)):
        return comparison
    here = PairCompare(operator, Here(), right)
    if isinstance(left, Here):
        return here
    return NonEmpty(_such_that(left, here))


def _is_absolute(nodes: Nodes) -> bool:
    """Return whether a set is the same at every context node."""
    return not any(isinstance(part, Here | Position | Last) for part in own_parts(nodes))


def _grows(nodes: Nodes) -> bool:
    """Return whether an absolute set is never known to be empty before the document ends."""
    match nodes:
        case Root() | Identified():
            return True
        case Step(base=Root(), axis=axis):
            return axis in DOWN  # the others lead nowhere from the document node
        case Filter(base=Root()):
            return False
        case Step(base=base) | Filter(base=base):
            return _grows(base)
        case Union(parts=parts):
            return any(map(_grows, parts))
        case _:
            return False


def _such_that(nodes: Nodes, condition: Atom) -> Nodes:
    """Return the nodes of a set for which a condition without positions holds."""
    match nodes:
        case Step(predicates=predicates) | Filter(predicates=predicates):
            return replace(nodes, predicates=(*predicates, condition))
        case _:
            return Filter(nodes, (condition,))
