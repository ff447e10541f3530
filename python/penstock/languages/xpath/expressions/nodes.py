"""Node-sets: paths, filters, unions and ``id()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.functions import Type
from penstock.languages.xpath.paths import BELOW, lower_test
from penstock.languages.xpath.syntax import (
    Expression,
    Filter,
    FunctionCall,
    Path,
    Step,
    Union,
)
from penstock.twigs import Axis, NodeKind, NodeTest
from penstock.twigs import expressions as x
from penstock.twigs.expression_parts import is_positional

if TYPE_CHECKING:
    from penstock.languages.xpath.expressions.lowering import ExpressionLowering, Focus

_ANY = NodeTest(NodeKind.ANY)


def lower_nodes(lowering: ExpressionLowering, expression: Expression, focus: Focus) -> x.Nodes:
    """Return a node-set.

    Raises:
        QueryError: The expression is none.
    """
    match expression:
        case Path(absolute=absolute, steps=steps, start=start):
            base = focus.here
            if start is not None:
                base = lower_nodes(lowering, start, focus)
            elif absolute:
                base = x.Root()
            for step in steps:
                base = _add_step(lowering, base, step)
            return base
        case Filter(primary=primary, predicates=predicates):
            base = lower_nodes(lowering, primary, focus)
            return x.Filter(base, tuple([lowering.predicate(one) for one in predicates]))
        case Union(parts=parts):
            distinct = dict.fromkeys([lower_nodes(lowering, part, focus) for part in parts])
            return x.Union(tuple(distinct)) if len(distinct) > 1 else next(iter(distinct))
        case FunctionCall(name="id"):
            lowering.check_call(expression)
            return x.Identified(_words(lowering, expression.arguments[0], focus))
        case _:
            raise lowering.not_nodes(expression)


def _add_step(lowering: ExpressionLowering, base: x.Nodes, step: Step) -> x.Nodes:
    test = lower_test(lowering, step)
    predicates = tuple([lowering.predicate(predicate) for predicate in step.predicates])
    axis = step.axis
    if axis is Axis.SELF and test == _ANY and not predicates:
        return base
    match base:
        case x.Step(axis=Axis.DESCENDANT_OR_SELF, test=tested, predicates=(), base=above) if (
            tested == _ANY and axis in BELOW and not any(map(is_positional, predicates))
        ):
            # `//a` is one step; `//a[1]` counts the children of each node, and is two.
            base, axis = above, BELOW[axis]
    return x.Step(base, axis, test, predicates)


def _words(lowering: ExpressionLowering, expression: Expression, focus: Focus) -> x.Atom:
    if lowering.type_of(expression) is Type.NODES:
        return x.JoinedStrings(lowering.nodes(expression, focus))
    return lowering.string(expression, focus)
