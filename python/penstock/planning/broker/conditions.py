"""Conditions on a bound node that the broker can decide: comparisons of paths with constants."""

from __future__ import annotations

import math
from typing import Any

from penstock.planning.broker.queries import (
    All,
    Compare,
    Condition,
    Exists,
    Negated,
    Path,
    Some,
    Step,
)
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind

_NUMBERS = {"integer", "decimal", "double"}
_TEXTS = {"string", "untypedAtomic"}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
_EXACT = 1 << 53
"""Integers below it are doubles."""


def as_condition(part: Any, node: Any) -> Condition | None:
    """Return an expression as a condition on a node, given the expression of that node."""
    match part:
        case x.And(parts=parts) | x.Or(parts=parts):
            conditions = [as_condition(inner, node) for inner in parts]
            if None in conditions:
                return None
            known = tuple([condition for condition in conditions if condition is not None])
            return All(known) if isinstance(part, x.And) else Some(known)
        case x.Call(function="not", arguments=(inner,)):
            condition = as_condition(inner, node)
            return None if condition is None else Negated(condition)
        case x.Call(function="boolean", arguments=(inner,)):
            return as_condition(inner, node)
        case x.Call(function="exists", arguments=(inner,)):
            return _exists(inner, node)
        case x.Call(function="empty", arguments=(inner,)):
            condition = _exists(inner, node)
            return None if condition is None else Negated(condition)
        case q.GeneralCompare(operator=operator, left=left, right=q.Atomic() as constant):
            return _compare(left, operator, constant, node)
        case q.GeneralCompare(operator=operator, left=q.Atomic() as constant, right=right):
            return _compare(right, _MIRRORED[operator], constant, node)
        case x.Step():
            return _exists(part, node)
        case _:
            return None


def _exists(part: Any, node: Any) -> Condition | None:
    path = as_path(part, node)
    return None if path is None else Exists(path)


def _compare(part: Any, operator: str, constant: q.Atomic, node: Any) -> Condition | None:
    path = as_path(part, node)
    if path is None:
        return None
    if constant.type in _TEXTS:
        return Compare(path, operator, constant.text, is_number=False)
    if constant.type not in _NUMBERS:
        return None
    number = float(constant.text.replace("INF", "inf"))
    is_exact = constant.type != "integer" or abs(int(constant.text)) < _EXACT
    if math.isnan(number) or not is_exact:
        return None
    return Compare(path, operator, constant.text, is_number=True)


def as_path(part: Any, node: Any) -> Path | None:
    """Return an expression as a path from a node."""
    steps: list[x.Step] = []
    while isinstance(part, x.Step) and part != node:
        if part.predicates:
            return None
        steps.append(part)
        part = part.base
    if part != node:
        return None
    steps.reverse()
    field = None
    if steps:
        last = steps[-1]
        is_attribute = last.axis is Axis.ATTRIBUTE and last.test.kind is NodeKind.ATTRIBUTE
        is_text = last.axis is Axis.CHILD and last.test.kind is NodeKind.TEXT
        if is_attribute or is_text:
            field = last.test
            steps.pop()
    elements = as_steps(steps)
    return None if elements is None else Path(elements, field)


def as_steps(steps: list[x.Step]) -> tuple[Step, ...] | None:
    """Return steps, whatever their predicates are, as steps to elements."""
    for step in steps:
        if step.axis not in (Axis.CHILD, Axis.DESCENDANT) or step.test.kind is not NodeKind.ELEMENT:
            return None
    return tuple([Step(step.axis, step.test) for step in steps])
