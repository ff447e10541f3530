"""Lowering of expressions in boolean context, and the comparisons among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.chains import Context
from penstock.languages.xpath.comparisons import lower_comparison
from penstock.languages.xpath.functions import CONDITIONS, Type
from penstock.twigs import FALSE, TRUE, BooleanOf, Condition, Constant, Holds, Not
from penstock.twigs.logic import conjunction, disjunction

if TYPE_CHECKING:
    from penstock.languages.xpath.lowering import Lowering


def lower_condition(lowering: Lowering, expression: s.Expression, context: Context) -> Condition:
    """Return ``boolean(expression)`` as a condition at the context node."""
    match expression:
        case s.Logical(operator=operator, parts=parts):
            lowered = [lower_condition(lowering, part, context) for part in parts]
            return conjunction(*lowered) if operator == "and" else disjunction(*lowered)
        case s.Binary(operator=operator) if operator in s.COMPARISONS:
            return lower_comparison(lowering, expression, context)
        case s.FunctionCall(name=name) if name in CONDITIONS:
            return lower_boolean_call(lowering, expression, context)
        case s.Variable() if lowering.type_of(expression) is Type.BOOLEAN:
            return Constant(bool(lowering.value_of(expression)))
    if lowering.type_of(expression) is Type.NODES:
        chains = lowering.chains(expression, context)
        return disjunction(*(chain.exists() for chain in chains))
    scalar = lowering.scalar(expression, context)
    if isinstance(scalar, BooleanOf):
        return scalar.condition
    return lowering.settle(Holds(scalar))


def lower_boolean_call(lowering: Lowering, call: s.FunctionCall, context: Context) -> Condition:
    """Lower ``true()``, ``false()``, ``not(…)`` and ``boolean(…)``."""
    lowering.check_call(call)
    if call.name in ("true", "false"):
        return TRUE if call.name == "true" else FALSE
    part = lower_condition(lowering, call.arguments[0], context)
    return Not(part) if call.name == "not" else part
