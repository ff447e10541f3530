"""Truth values: connectives, comparisons by section 3.4 of XPath 1.0, and boolean calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.expressions.languages import lower_lang
from penstock.languages.xpath.expressions.values import convert, lower_arguments
from penstock.languages.xpath.functions import Type
from penstock.twigs import expressions as x
from penstock.twigs.logic import FLIPPED

if TYPE_CHECKING:
    from penstock.languages.xpath.expressions.lowering import ExpressionLowering, Focus


def lower_truth(lowering: ExpressionLowering, expression: s.Expression, focus: Focus) -> x.Atom:
    """Return ``boolean(expression)``."""
    match expression:
        case s.Logical(operator=operator, parts=parts):
            truths = tuple([lower_truth(lowering, part, focus) for part in parts])
            return x.And(truths) if operator == "and" else x.Or(truths)
        case s.Binary(operator=operator) if operator in s.COMPARISONS:
            return lower_comparison(lowering, expression, focus)
        case s.FunctionCall() if lowering.type_of(expression) is Type.BOOLEAN:
            return _lower_call(lowering, expression, focus)
    if lowering.type_of(expression) is Type.NODES:
        return x.Exists(lowering.nodes(expression, focus))
    return convert("boolean", lowering.value(expression, focus))


def _lower_call(lowering: ExpressionLowering, call: s.FunctionCall, focus: Focus) -> x.Atom:
    match call.name:
        case "true" | "false":
            return lowering.slots.add(call.name == "true")
        case "boolean":
            return lower_truth(lowering, call.arguments[0], focus)
        case "not":
            return x.Not(lower_truth(lowering, call.arguments[0], focus))
        case "lang":
            return lower_lang(lowering, lowering.string(call.arguments[0], focus), focus.here)
    return x.Call(call.name, lower_arguments(lowering, call, focus))


def lower_comparison(lowering: ExpressionLowering, comparison: s.Binary, focus: Focus) -> x.Atom:
    """Return a comparison; one with a node-set holds if it holds for some node."""
    operator, left, right = comparison.operator, comparison.left, comparison.right
    types = [lowering.type_of(left), lowering.type_of(right)]
    if types == [Type.NODES, Type.NODES]:
        return x.PairCompare(operator, lowering.nodes(left, focus), lowering.nodes(right, focus))
    is_equality = operator in ("=", "!=")
    if Type.NODES in types and Type.BOOLEAN not in types:
        is_number = not is_equality or Type.NUMBER in types
        if types[1] is Type.NODES:
            operator, left, right = FLIPPED[operator], right, left
        nodes = lowering.nodes(left, focus)
        lower = lowering.number if is_number else lowering.string
        return x.SomeCompare(operator, nodes, lower(right, focus))
    # A node-set beside a truth value counts as one.
    sides = [
        lowering.truth(side, focus) if type_ is Type.NODES else lowering.value(side, focus)
        for type_, side in zip(types, (left, right), strict=True)
    ]
    common = "string"
    if not is_equality or Type.NUMBER in types:
        common = "number"
    if is_equality and Type.BOOLEAN in types:
        common = "boolean"
    return x.Compare(operator, *[convert(common, side) for side in sides])
