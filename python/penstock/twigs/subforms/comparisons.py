"""Comparisons by section 3.4 of XPath 1.0 as conditions of a twig.

A comparison with a node-set holds if it holds for some node, so it moves to that node. What varies
stands on the left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.twigs import expressions as x
from penstock.twigs.depth import size_of
from penstock.twigs.logic import FLIPPED, conjunction, disjunction, negation
from penstock.twigs.parts import leaves
from penstock.twigs.queries import NoTwigError
from penstock.twigs.subforms.reach import Kinds
from penstock.twigs.subforms.values import Reads, settle, string_of_single

if TYPE_CHECKING:
    from penstock.twigs.subforms.recognition import Recognition


def compare_values(recognition: Recognition, comparison: x.Compare, kinds: Kinds) -> x.Condition:
    """Return a comparison of two values, a constant on the right."""
    operator, left, right = comparison.operator, comparison.left, comparison.right
    truths = _compared_truths(comparison)
    if truths is not None:
        first, second = (recognition.condition(truth, kinds) for truth in truths)
        recognition.spend(size_of(first) + size_of(second))
        return _compare_truths(operator, first, second)
    reads: Reads = []
    first, second = recognition.value(left, kinds, reads), recognition.value(right, kinds, reads)
    if _is_constant(first) and not _is_constant(second):
        operator, first, second = FLIPPED[operator], second, first
    return settle(x.Compare(operator, first, second), reads)


def compare_some(recognition: Recognition, comparison: x.SomeCompare, kinds: Kinds) -> x.Condition:
    """Return that some node of a set compares with a value of the context node."""
    operator, reads = comparison.operator, Reads()
    value = recognition.value(comparison.value, kinds, reads)
    parts = []
    for chain in recognition.chains(comparison.nodes, kinds):
        if _is_constant(value):
            parts.append(chain.exists(_compare_string(operator, x.StringOf(), value)))
            continue
        if not chain.is_single:
            raise NoTwigError("a node-set is compared with a value that varies")
        all_reads = [*reads]
        compare = _compare_string(operator, string_of_single(chain, all_reads), value)
        parts.append(conjunction(chain.exists(), settle(compare, all_reads)))
    return disjunction(*parts)


def compare_pairs(recognition: Recognition, comparison: x.PairCompare, kinds: Kinds) -> x.Condition:
    """Compare two sets that have at most one node each."""
    parts = []
    is_order = comparison.operator not in ("=", "!=")
    rights = recognition.chains(comparison.right, kinds)
    for left in recognition.chains(comparison.left, kinds):
        for right in rights:
            recognition.spend(1)
            if not (left.is_single and right.is_single):
                raise NoTwigError("two node-sets are compared")
            reads: Reads = []
            sides = string_of_single(left, reads), string_of_single(right, reads)
            first, second = map(_number_of, sides) if is_order else sides
            compare = x.Compare(comparison.operator, first, second)
            parts.append(conjunction(left.exists(), right.exists(), settle(compare, reads)))
    return disjunction(*parts)


def _compare_string(operator: str, string: x.Atom, value: x.Atom) -> x.Compare:
    """Compare a string with a value of either type."""
    is_number = x.type_of(value) is x.ValueType.NUMBER
    return x.Compare(operator, _number_of(string) if is_number else string, value)


def _number_of(string: x.Atom) -> x.Atom:
    return x.Call("number", (string,))


def _is_constant(atom: x.Atom) -> bool:
    """Return whether a value is the same whatever the document."""
    if isinstance(atom, x.Call) and not x.is_condition(atom):
        return all(isinstance(leaf, x.Slot) for leaf in leaves(atom))
    return isinstance(atom, x.Slot)


def _compared_truths(comparison: x.Compare) -> tuple[x.Atom, x.Atom] | None:
    """Return the truth values that a comparison is about; None if it is about other values."""
    sides = comparison.left, comparison.right
    if comparison.operator not in ("=", "!="):
        match sides:
            case (
                x.Call(function="number", arguments=(left,)),
                x.Call(function="number", arguments=(right,)),
            ):
                sides = left, right
    are_truths = all(x.type_of(side) is x.ValueType.BOOLEAN for side in sides)
    return sides if are_truths else None


def _compare_truths(operator: str, left: x.Condition, right: x.Condition) -> x.Condition:
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
