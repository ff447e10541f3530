"""Answers that can be compared: nodes of a tree, descriptions of nodes, or an atomic value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby

from penstock.twigs import NodeKind
from penstock_testing.reference import Atomic
from penstock_testing.tree import Node

Described = tuple[str, str, str]
"""Kind, expanded name and string value of a node: what Saxon tells."""

Answer = Sequence[Node] | Sequence[Described] | Atomic


def same(left: Answer, right: Answer) -> bool:
    """Return whether two answers agree.

    Numbers may differ in rounding. The order of the attributes of one element is free, and that
    of its namespace nodes; which element a namespace node belongs to, not every engine says.
    """
    if isinstance(left, list) or isinstance(right, list):
        if not (isinstance(left, list) and isinstance(right, list)) or len(left) != len(right):
            return False
        return left == right or _in_one_order(left) == _in_one_order(right)
    if isinstance(left, float) and isinstance(right, float):
        close = math.isclose(left, right, rel_tol=1e-12)
        return close or (math.isnan(left) and math.isnan(right))
    return type(left) is type(right) and left == right


def is_empty(answer: Sequence[object] | Atomic) -> bool:
    """Return whether an answer says little: no node, an empty string, false, zero or NaN."""
    if isinstance(answer, float):
        return math.isnan(answer) or answer == 0
    return not answer


def _in_one_order(nodes: Sequence[Node | Described]) -> list[object]:
    """Sort what lies side by side and whose order is free."""
    return [part for _, run in groupby(map(_key, nodes), key=_place) for part in sorted(run)]


def _key(node: Node | Described) -> tuple[str, int, str, str]:
    if not isinstance(node, Node):
        kind, name, value = node
        return (kind, -1, name, value)
    if node.kind is NodeKind.NAMESPACE:
        return ("namespace", -1, node.local, node.value)
    if node.kind is NodeKind.ATTRIBUTE and node.parent is not None:
        return ("attribute", node.parent.order, node.expanded_name, node.value)
    return (node.kind.value, node.order, "", "")


def _place(key: tuple[str, int, str, str]) -> tuple[object, ...]:
    """Return what nodes have in common whose order is free."""
    kind, order, *_ = key
    return (kind, order) if kind in ("attribute", "namespace") else key
