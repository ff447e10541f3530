"""Expressions over a loop that cannot fail: what may be evaluated before anybody needs it."""

from __future__ import annotations

from typing import Any

from penstock.planning.sequences.context import FORWARD
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind

_CONSTANTS = ("string", "integer", "decimal", "double")


def is_safe_path(path: Any) -> bool:
    """Return whether an expression is a path down from a variable, or the variable."""
    return _is_path(path, q.Variable)


def is_safe_content(path: Any) -> bool:
    """Return whether it is one whose nodes are content of an element: no attributes."""
    while isinstance(path, x.Step | x.Filter):
        if isinstance(path, x.Step) and _reaches_attributes(path):
            return False
        if not all(map(is_safe_test, path.predicates)):
            return False
        path = path.base
    return isinstance(path, q.Variable)


def is_safe_atoms(part: Any) -> bool:
    """Return whether an expression gives atomic values of a safe path, and cannot fail."""
    match part:
        case x.Call(function="data" | "count", arguments=(argument,)):
            return is_safe_path(argument)
        case x.Call(function="string", arguments=(argument,)):
            # More than one item would be an error.
            return isinstance(argument, q.Variable) or _is_own_attribute(argument)
        case _:
            return False


def is_safe_test(part: Any) -> bool:
    """Return whether a predicate or condition cannot fail, whatever the document is."""
    match part:
        case x.And(parts=parts) | x.Or(parts=parts):
            return all(map(is_safe_test, parts))
        case q.GeneralCompare(left=left, right=right):
            # Text that is compared with a number may be none.
            operands = [_compared(left), _compared(right)]
            return None not in operands and "number" not in operands
        case x.Call(function="not" | "exists" | "empty" | "boolean", arguments=(argument,)):
            return is_safe_test(argument)
        case q.Atomic(type="integer"):
            return True
        case x.Step() | x.Filter():
            return _is_path(part, q.Variable | x.Here)
        case _:
            return False


def _compared(operand: Any) -> str | None:
    """Return what an operand of a comparison gives; None if it may fail."""
    match operand:
        case q.Atomic(type="string"):
            return "text"
        case q.Atomic(type=kind) if kind in _CONSTANTS:
            return "number"
        case _:
            return "text" if _is_path(operand, q.Variable | x.Here) else None


def _is_path(path: Any, start: Any) -> bool:
    while isinstance(path, x.Step | x.Filter):
        if isinstance(path, x.Step) and path.axis not in FORWARD:
            return False
        if not all(map(is_safe_test, path.predicates)):
            return False
        path = path.base
    return isinstance(path, start)


def _reaches_attributes(step: x.Step) -> bool:
    return step.axis is Axis.ATTRIBUTE or step.test.kind is NodeKind.ATTRIBUTE


def _is_own_attribute(path: Any) -> bool:
    """Return whether a path leads from a variable to the one attribute of a name."""
    return attribute_name(path) is not None


def attribute_name(path: Any) -> str | None:
    """Return the name of the one attribute of a variable that a path leads to, if it does.

    Names in a namespace need a prefix, and have none here.
    """
    match path:
        case x.Step(base=q.Variable(), axis=Axis.ATTRIBUTE, test=test, predicates=()):
            return test.local if test.uris == ("",) else None
        case _:
            return None
