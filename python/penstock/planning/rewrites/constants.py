"""What does not depend on the document is computed now.

Calls and comparisons of constants become constants, conditions lose what is always true or
false, and an alternative that can never match is dropped.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.traversal import Traversal
from penstock.planning.values import call, compare, is_empty, is_nan, is_true
from penstock.twigs import (
    FALSE,
    TRUE,
    And,
    AtRoot,
    Block,
    BooleanOf,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    Holds,
    NameOf,
    Not,
    Or,
    Query,
    Scalar,
    Slot,
    StringOf,
    TwigNode,
    ValueType,
    type_of,
)
from penstock.twigs.blanks import Atom
from penstock.twigs.logic import FLIPPED, conjunction, disjunction, negation
from penstock.twigs.slots import SlotTable

_SETTLED_BY_EMPTY = frozenset(
    {"contains", "starts-with", "substring-before", "substring-after", "translate"}
)


def fold_constants(query: Query) -> Query:
    """Return the query with constants computed and dead alternatives dropped.

    New constants are added to the table; those that nothing refers to any more stay there.
    """
    folding = _Folding(SlotTable(query.constants))
    folded = folding.query(query)
    if folded is query:
        return query
    return replace(folded, constants=tuple(folding.slots.values))


class _Folding(Traversal):
    def __init__(self, slots: SlotTable) -> None:
        self.slots = slots

    def leave_block(self, block: Block, alternatives: list[TwigNode]) -> Block:
        return super().leave_block(block, [a for a in alternatives if a.where != FALSE])

    def leave_twig(self, node: TwigNode) -> TwigNode:
        is_dead = any(b.node.where == FALSE and not b.optional for b in node.branches)
        return replace(node, where=FALSE) if is_dead else node

    def leave_condition(self, condition: Condition) -> Condition:
        match condition:
            case And(parts=parts):
                return conjunction(*parts)
            case Or(parts=parts):
                return disjunction(*parts)
            case Not(part=part):
                return negation(part)
            case Exists(node=node) if node.where == FALSE:
                return FALSE
            case AtRoot(part=Constant() as part):
                return part
            case Compare():
                return self.fold_comparison(condition)
            case Holds(scalar=Slot() as slot):
                return TRUE if is_true(self.slots[slot]) else FALSE
            case Holds(scalar=BooleanOf(condition=inner)):
                return inner
            case _:
                return condition

    def fold_comparison(self, comparison: Compare) -> Condition:
        """Compute a comparison of constants, put a constant on the right, settle NaN."""
        operator, left, right = comparison.operator, comparison.left, comparison.right
        if isinstance(left, Slot) and isinstance(right, Slot):
            return TRUE if compare(operator, self.slots[left], self.slots[right]) else FALSE
        if isinstance(left, Slot):
            operator, left, right = FLIPPED[operator], right, left
        if isinstance(right, Slot) and is_nan(self.slots[right]):
            # It is unequal to everything and compares with nothing.
            return TRUE if operator == "!=" else FALSE
        return Compare(operator, left, right)

    def leave_scalar(self, scalar: Scalar) -> Scalar:
        match scalar:
            case Call(function=function, arguments=arguments):
                return self.fold_call(function, arguments)
            case BooleanOf(condition=Constant(value=value)):
                return self.slots.add(value)
            case BooleanOf(condition=Holds(scalar=inner)) if _is_boolean(inner):
                return inner
            case StringOf(node=node) | NameOf(node=node) if node and node.where == FALSE:
                return self.slots.add("")
            case _:
                return scalar

    def fold_call(self, function: str, arguments: tuple[Scalar, ...]) -> Scalar:
        """Compute a call on constants, and calls that one constant already decides."""
        values: list[Atom] = []
        for argument in arguments:
            if isinstance(argument, Slot):
                values.append(self.slots[argument])
        if len(values) == len(arguments):
            return self.slots.add(call(function, values))
        if function in ("string", "number", "boolean"):
            if type_of(arguments[0]) is ValueType(function):
                return arguments[0]
        elif len(arguments) > 1 and isinstance(arguments[1], Slot):
            return self.fold_second(function, arguments, self.slots[arguments[1]])
        return Call(function, arguments)

    def fold_second(self, function: str, arguments: tuple[Scalar, ...], second: Atom) -> Scalar:
        """Settle what an empty second argument settles: every string contains it."""
        if function in _SETTLED_BY_EMPTY and is_empty(second):
            if function in ("contains", "starts-with"):
                return self.slots.add(True)
            return self.slots.add("") if function == "substring-before" else arguments[0]
        return Call(function, arguments)


def _is_boolean(scalar: Scalar) -> bool:
    return type_of(scalar) is ValueType.BOOLEAN
