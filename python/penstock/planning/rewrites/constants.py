"""What does not depend on the document is computed now.

Calls and comparisons of constants become constants, conditions lose what is always true or
false, and an alternative that can never match is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.traversal import rewrite_query
from penstock.planning.values import call, compare, is_empty, is_nan, is_true
from penstock.twigs import FALSE, TRUE, Query
from penstock.twigs import patterns as t
from penstock.twigs.logic import FLIPPED, simplified
from penstock.twigs.parts import Changes
from penstock.twigs.slots import SlotTable

_SETTLED_BY_EMPTY = frozenset(
    {"contains", "starts-with", "substring-before", "substring-after", "translate"}
)


def fold_constants(query: Query) -> Query:
    """Return the query with constants computed and dead alternatives dropped.

    New constants are added to the table; those that nothing refers to any more stay there.
    """
    folding = _Folding(SlotTable(query.constants))
    folded = rewrite_query(query, folding.changes, _living)
    if folded is query:
        return query
    return replace(folded, constants=tuple(folding.slots.values))


def _living(alternatives: list[t.TwigNode]) -> list[t.TwigNode]:
    return [twig for twig in alternatives if twig.where != FALSE]


def _fold_twig(node: t.TwigNode) -> t.TwigNode:
    is_dead = any(b.node.where == FALSE and not b.optional for b in node.branches)
    return replace(node, where=FALSE) if is_dead else node


class _Folding:
    def __init__(self, slots: SlotTable) -> None:
        self.slots = slots
        self.changes: Changes = {
            t.TwigNode: _fold_twig,
            **dict.fromkeys([t.And, t.Or, t.Not], simplified),
            t.Exists: lambda exists: FALSE if exists.node.where == FALSE else exists,
            t.AtRoot: lambda root: root.part if isinstance(root.part, t.Constant) else root,
            t.Compare: self.fold_comparison,
            t.Holds: self.fold_truth,
            t.Call: self.fold_call,
            t.BooleanOf: self.fold_boolean,
            **dict.fromkeys([t.StringOf, t.NameOf], self.fold_first),
        }

    def fold_truth(self, holds: t.Holds) -> t.Condition:
        """Compute the truth of a constant, and take a condition out of its value."""
        match holds.scalar:
            case t.Slot() as slot:
                return TRUE if is_true(self.slots[slot]) else FALSE
            case t.BooleanOf(condition=condition):
                return condition
        return holds

    def fold_boolean(self, boolean: t.BooleanOf) -> t.Scalar:
        """Compute the value of a condition, and take a value out of its truth."""
        match boolean.condition:
            case t.Constant(value=value):
                return self.slots.add(value)
            case t.Holds(scalar=scalar) if t.type_of(scalar) is t.ValueType.BOOLEAN:
                return scalar
        return boolean

    def fold_first(self, value: t.StringOf | t.NameOf) -> t.Scalar:
        """Settle the value of a node that is never there."""
        is_dead = value.node is not None and value.node.where == FALSE
        return self.slots.add("") if is_dead else value

    def fold_comparison(self, comparison: t.Compare) -> t.Condition:
        """Compute a comparison of constants, put a constant on the right, settle NaN."""
        operator, left, right = comparison.operator, comparison.left, comparison.right
        if isinstance(left, t.Slot) and isinstance(right, t.Slot):
            return TRUE if compare(operator, self.slots[left], self.slots[right]) else FALSE
        if isinstance(left, t.Slot):
            operator, left, right = FLIPPED[operator], right, left
        if isinstance(right, t.Slot) and is_nan(self.slots[right]):
            # It is unequal to everything and compares with nothing.
            return TRUE if operator == "!=" else FALSE
        return t.Compare(operator, left, right)

    def fold_call(self, scalar: t.Call) -> t.Scalar:
        """Compute a call on constants, and calls that one constant already decides."""
        function, arguments = scalar.function, scalar.arguments
        values = [self.slots[atom] for atom in arguments if isinstance(atom, t.Slot)]
        if len(values) == len(arguments):
            return self.slots.add(call(function, values))
        if function in ("string", "number", "boolean"):
            if t.type_of(arguments[0]) is t.ValueType(function):
                return arguments[0]
        elif function in _SETTLED_BY_EMPTY and self.is_empty(arguments[1]):
            # Every string contains the empty one.
            if function in ("contains", "starts-with"):
                return self.slots.add(True)
            return self.slots.add("") if function == "substring-before" else arguments[0]
        return scalar

    def is_empty(self, scalar: t.Scalar) -> bool:
        """Return whether a scalar is the empty string."""
        return isinstance(scalar, t.Slot) and is_empty(self.slots[scalar])
