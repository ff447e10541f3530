"""Lowering of ``= != < <= > >=`` by section 3.4 of XPath 1.0.

A comparison with a node-set holds if it holds for some node, so it moves to that node. The two
sides of a ``Compare`` always have one type, and what varies stands on the left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.chains import Chain, Context
from penstock.languages.xpath.functions import Type
from penstock.languages.xpath.scalars import is_constant, string_of_chain, to_number
from penstock.languages.xpath.syntax import Binary, Expression
from penstock.twigs import Axis, Compare, Condition, Scalar, StringOf, ValueType, type_of
from penstock.twigs.depth import size_of
from penstock.twigs.logic import FLIPPED, conjunction, disjunction, negation
from penstock.twigs.queries import NoTwigError

if TYPE_CHECKING:
    from penstock.languages.xpath.lowering import Lowering


def lower_comparison(lowering: Lowering, comparison: Binary, context: Context) -> Condition:
    """Return a comparison as a condition at the context node."""
    operator, left, right = comparison.operator, comparison.left, comparison.right
    left_type, right_type = lowering.type_of(left), lowering.type_of(right)
    if left_type is Type.NODES and right_type is Type.NODES:
        return _compare_nodes(lowering, comparison, context)
    if right_type is Type.NODES:
        operator, left, right = FLIPPED[operator], right, left
        left_type, right_type = right_type, left_type
    is_equality = operator in ("=", "!=")
    types = {left_type, right_type}
    if types <= {Type.NODES, Type.BOOLEAN} or (is_equality and Type.BOOLEAN in types):
        first = lowering.condition(left, context)
        second = lowering.condition(right, context)
        lowering.spend(size_of(first) + size_of(second))
        return _compare_booleans(operator, first, second)
    as_numbers = not is_equality or Type.NUMBER in types
    if left_type is Type.NODES:
        value = _value(lowering, right, context, as_numbers)
        parts = [
            _compare_chain(lowering, operator, chain, value)
            for chain in lowering.chains(left, context)
        ]
        return disjunction(*parts)
    first_value = _value(lowering, left, context, as_numbers)
    second_value = _value(lowering, right, context, as_numbers)
    if is_constant(first_value) and not is_constant(second_value):
        operator = FLIPPED[operator]
        first_value, second_value = second_value, first_value
    compare = Compare(operator, first_value, second_value)
    return lowering.settle(compare)


def _value(lowering: Lowering, expression: Expression, context: Context, as_number: bool) -> Scalar:
    if as_number:
        return lowering.number(expression, context)
    return lowering.string(expression, context)


def _compare_chain(lowering: Lowering, operator: str, chain: Chain, value: Scalar) -> Condition:
    """Return that some node of the chain compares with a value of the context node."""
    if is_constant(value):
        return chain.exists(_compare(operator, StringOf(), value))
    if not chain.is_single:
        raise NoTwigError("a node-set is compared with a value that varies")
    compare = _compare(operator, _string_of_single(chain), value)
    return conjunction(chain.exists(), lowering.settle(compare))


def _compare(operator: str, string: Scalar, value: Scalar) -> Compare:
    """Compare a string with a value of either type."""
    is_number = type_of(value) is ValueType.NUMBER
    return Compare(operator, to_number(string) if is_number else string, value)


def _string_of_single(chain: Chain) -> Scalar:
    """Return the string of a chain with at most one node, which is known to exist."""
    if not chain.absolute and all(step.axis is Axis.SELF for step in chain.steps):
        return StringOf()
    return string_of_chain(chain)


def _compare_nodes(lowering: Lowering, comparison: Binary, context: Context) -> Condition:
    """Compare two node-sets that have at most one node each."""
    parts = []
    as_numbers = comparison.operator not in ("=", "!=")
    rights = lowering.chains(comparison.right, context)
    for left in lowering.chains(comparison.left, context):
        for right in rights:
            lowering.spend(1)
            if not (left.is_single and right.is_single):
                raise NoTwigError("two node-sets are compared")
            first, second = _string_of_single(left), _string_of_single(right)
            if as_numbers:
                first, second = to_number(first), to_number(second)
            compare = Compare(comparison.operator, first, second)
            settled = lowering.settle(compare)
            parts.append(conjunction(left.exists(), right.exists(), settled))
    return disjunction(*parts)


def _compare_booleans(operator: str, left: Condition, right: Condition) -> Condition:
    """Write a comparison of two truths with ``and``, ``or`` and ``not``; false is below true."""
    match operator:
        case "=":
            neither = conjunction(negation(left), negation(right))
            return disjunction(conjunction(left, right), neither)
        case "!=":
            return disjunction(
                conjunction(left, negation(right)), conjunction(negation(left), right)
            )
        case "<":
            return conjunction(negation(left), right)
        case "<=":
            return disjunction(negation(left), right)
        case ">":
            return conjunction(left, negation(right))
        case _:
            return disjunction(left, negation(right))
