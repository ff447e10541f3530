"""Node-sets: paths, filters, unions and ``id()``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.functions import Type
from penstock.languages.xpath.nodetests import lower_test
from penstock.twigs import Axis
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import ANY_NODE
from penstock.twigs.own_parts import add_step

if TYPE_CHECKING:
    from penstock.languages.xpath.expressions.lowering import ExpressionLowering, Focus


_SELF = x.Step(x.Here(), Axis.SELF, ANY_NODE)


def lower_nodes(lowering: ExpressionLowering, expression: s.Expression, focus: Focus) -> x.Nodes:
    """Return a node-set.

    Raises:
        QueryError: The expression is none.
    """
    match expression:
        case s.Path(absolute=absolute, steps=steps, start=start):
            base = focus.here
            if start is not None:
                base = lower_nodes(lowering, start, focus)
            elif absolute:
                base = x.Root()
            for written in steps:
                step = lower_step(lowering, written)
                if step != _SELF:
                    base = add_step(base, step.axis, step.test, step.predicates)
            return base
        case s.Filter(primary=primary, predicates=predicates):
            base = lower_nodes(lowering, primary, focus)
            return x.Filter(base, tuple([lowering.predicate(one) for one in predicates]))
        case s.Union(parts=parts):
            distinct = dict.fromkeys([lower_nodes(lowering, part, focus) for part in parts])
            return x.Union(tuple(distinct)) if len(distinct) > 1 else next(iter(distinct))
        case s.FunctionCall(name="id"):
            lowering.check_call(expression)
            return x.Identified(_words(lowering, expression.arguments[0], focus))
        case _:
            raise lowering.not_nodes(expression)


def lower_step(lowering: ExpressionLowering, step: s.Step) -> x.Step:
    """Return a step from the context node."""
    predicates = tuple([lowering.predicate(predicate) for predicate in step.predicates])
    return x.Step(x.Here(), step.axis, lower_test(lowering, step), predicates)


def _words(lowering: ExpressionLowering, expression: s.Expression, focus: Focus) -> x.Atom:
    if lowering.type_of(expression) is Type.NODES:
        return x.JoinedStrings(lowering.nodes(expression, focus))
    return lowering.string(expression, focus)
