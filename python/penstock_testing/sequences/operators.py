"""Literals, variables, operators, conditions and types."""

from __future__ import annotations

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock_testing.sequences.arithmetic import calculate, keep_sign, negate
from penstock_testing.sequences.casting import cast, is_castable
from penstock_testing.sequences.comparing import compare_general, compare_values
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.items import Atom, Items, boolean, integer, string
from penstock_testing.sequences.matching import is_instance
from penstock_testing.tree import Node

RANGE_MAX = 10_000_000
"""A range with more integers is not written out."""


def literal(expression: q.Atomic, _context: Context) -> Items:
    """Return the value of a literal."""
    return [cast(string(expression.text), expression.type)]


def variable(expression: q.Variable, context: Context) -> Items:
    """Return the value of a variable."""
    return context.value(expression.name)


def sequence(expression: q.Sequence, context: Context) -> Items:
    """Return the items of all parts."""
    return [item for part in expression.parts for item in context.items(part)]


def number_range(expression: q.Range, context: Context) -> Items:
    """Return the integers of a range."""
    ends = []
    for side in (expression.first, expression.last):
        atom = context.atom(side, "a range")
        if atom is None:
            return []
        if atom.type == "untypedAtomic":
            atom = cast(atom, "integer")
        if not isinstance(atom.value, int) or isinstance(atom.value, bool):
            raise mistyped("a range is between integers")
        ends.append(atom.value)
    if ends[1] - ends[0] > RANGE_MAX:
        raise DynamicError("FOAR0002", "the range is too long")
    return [integer(number) for number in range(ends[0], ends[1] + 1)]


def every(expression: x.And, context: Context) -> Items:
    """Return ``and``."""
    return [boolean(all(context.truth(part) for part in expression.parts))]


def some(expression: x.Or, context: Context) -> Items:
    """Return ``or``."""
    return [boolean(any(context.truth(part) for part in expression.parts))]


def inverse(expression: x.Not, context: Context) -> Items:
    """Return ``not``."""
    return [boolean(not context.truth(expression.part))]


def arithmetic(expression: q.Arithmetic, context: Context) -> Items:
    """Return the value of an arithmetic operator; nothing if one side is empty."""
    left = context.atom(expression.left, expression.operator)
    right = context.atom(expression.right, expression.operator)
    if left is None or right is None:
        return []
    return [calculate(expression.operator, left, right)]


def signed(expression: q.Signed, context: Context) -> Items:
    """Return a number with a sign."""
    atom = context.atom(expression.operand, "a sign")
    if atom is None:
        return []
    return [negate(atom) if expression.operator == "-" else keep_sign(atom)]


def general_compare(expression: q.GeneralCompare, context: Context) -> Items:
    """Return whether some pair of values compares."""
    left, right = context.atoms(expression.left), context.atoms(expression.right)
    untyped = context.world.untyped
    return [
        boolean(
            any(
                compare_general(expression.operator, one, other, untyped)
                for one in left
                for other in right
            )
        )
    ]


def value_compare(expression: q.ValueCompare, context: Context) -> Items:
    """Return whether two values compare; nothing if one side is empty."""
    left = context.atom(expression.left, expression.operator)
    right = context.atom(expression.right, expression.operator)
    if left is None or right is None:
        return []
    return [boolean(compare_values(expression.operator, left, right))]


def node_compare(expression: q.NodeCompare, context: Context) -> Items:
    """Return whether two nodes are one, or which comes first."""
    sides: list[Node] = []
    for side in (expression.left, expression.right):
        nodes = context.nodes(side, "XPTY0004", expression.operator)
        if len(nodes) > 1:
            raise mistyped(f"{expression.operator} compares single nodes")
        if not nodes:
            return []
        sides += nodes
    one, other = sides
    if expression.operator == "is":
        return [boolean(one is other)]
    place = context.world.forest.place
    is_before = place(one) < place(other)
    is_after = place(one) > place(other)
    return [boolean(is_before if expression.operator == "<<" else is_after)]


def condition(expression: q.If, context: Context) -> Items:
    """Return one of two values."""
    is_true = context.truth(expression.test)
    return context.items(expression.then if is_true else expression.otherwise)


def instance_of(expression: q.InstanceOf, context: Context) -> Items:
    """Return whether a sequence has a type."""
    return [boolean(is_instance(context.items(expression.operand), expression.type))]


def treat_as(expression: q.TreatAs, context: Context) -> Items:
    """Return a sequence, which is to have a type."""
    items = context.items(expression.operand)
    if not is_instance(items, expression.type):
        raise DynamicError("XPDY0050", "the operand of treat has another type")
    return items


def cast_as(expression: q.CastAs, context: Context) -> Items:
    """Return a value in another type."""
    atom = _operand(expression, context)
    if atom is None:
        return []
    return [cast(atom, expression.type)]


def castable_as(expression: q.CastableAs, context: Context) -> Items:
    """Return whether a value has a counterpart in another type."""
    atoms = context.atoms(expression.operand)
    if len(atoms) != 1:
        return [boolean(not atoms and expression.is_optional)]
    return [boolean(is_castable(atoms[0], expression.type))]


def _operand(expression: q.CastAs, context: Context) -> Atom | None:
    atom = context.atom(expression.operand, "a cast")
    if atom is None and not expression.is_optional:
        raise mistyped("a cast without ? takes one value")
    return atom


def type_switch(expression: q.TypeSwitch, context: Context) -> Items:
    """Return the result of the first case that fits."""
    items = context.items(expression.operand)
    for case in expression.cases:
        if case.type is None or is_instance(items, case.type):
            inside = context if case.variable is None else context.bind(case.variable, items)
            return inside.items(case.result)
    raise AssertionError("a type switch has a default")
