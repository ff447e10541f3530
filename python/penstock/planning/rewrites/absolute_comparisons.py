"""Comparisons with an absolute set are made node by node.

``b = //k`` is ``b[. = //k]``: the circuit then only compares one node with a set that all nodes
share. A set that is known to be empty before the end of the document would decide the comparison
before the nodes of the other side have come, and stays where it is; there are few such sets, since
most grow as long as the document does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.twigs import expressions as x
from penstock.twigs.logic import FLIPPED
from penstock.twigs.nodetests import DOWN
from penstock.twigs.own_parts import own_parts
from penstock.twigs.parts import rewrite


def compare_node_by_node(expression: x.Expression) -> Any:
    """Return the expression with an absolute set beside the context node only."""
    return rewrite(expression, {x.PairCompare: _divided})


def _divided(comparison: x.PairCompare) -> x.Atom:
    operator, left, right = comparison.operator, comparison.left, comparison.right
    if _is_absolute(left):
        operator, left, right = FLIPPED[operator], right, left
    if _is_absolute(left) or not (_is_absolute(right) and _grows(right)):
        return comparison
    here = x.PairCompare(operator, x.Here(), right)
    if isinstance(left, x.Here):
        return here
    return x.Exists(_such_that(left, here))


def _is_absolute(nodes: x.Nodes) -> bool:
    """Return whether a set is the same at every context node."""
    return not any(isinstance(part, x.Here | x.Position | x.Last) for part in own_parts(nodes))


def _grows(nodes: x.Nodes) -> bool:
    """Return whether an absolute set is never known to be empty before the document ends."""
    match nodes:
        case x.Root() | x.Identified():
            return True
        case x.Step(base=x.Root(), axis=axis):
            return axis in DOWN  # the others lead nowhere from the document node
        case x.Filter(base=x.Root()):
            return False
        case x.Step(base=base) | x.Filter(base=base):
            return _grows(base)
        case x.Union(parts=parts):
            return any(map(_grows, parts))
        case _:
            return False


def _such_that(nodes: x.Nodes, condition: x.Atom) -> x.Nodes:
    """Return the nodes of a set for which a condition without positions holds."""
    match nodes:
        case x.Step(predicates=predicates) | x.Filter(predicates=predicates):
            return replace(nodes, predicates=(*predicates, condition))
        case _:
            return x.Filter(nodes, (condition,))
