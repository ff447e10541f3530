"""What does not depend on the document is computed now.

Calls and comparisons of constants become constants, and conditions lose what is always true or
false. In twigs one constant may decide a call or a comparison, and an alternative that can never
match is dropped.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from penstock.planning.traversal import rewrite_query
from penstock.planning.values import call, is_empty, is_nan, is_true
from penstock.twigs import FALSE, TRUE, Query, ValueType, type_of
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.logic import FLIPPED, simplified
from penstock.twigs.parts import Changes, rewrite
from penstock.twigs.slots import SlotTable

_SETTLED_BY_EMPTY = frozenset(
    {"contains", "starts-with", "substring-before", "substring-after", "translate"}
)


def fold_constants(query: Query) -> Query:
    """Return the query with constants computed and dead alternatives dropped.

    New constants are added to the table; those that nothing refers to any more stay there.
    """
    folding = _TwigFolding(SlotTable(query.constants))
    folded = rewrite_query(query, folding.changes, _living)
    if folded is query:
        return query
    return replace(folded, constants=tuple(folding.slots.values))


def fold_expression(query: Query, selection: x.Selection) -> Query:
    """Return the query of a selection with its constants computed and numbered.

    Constants are numbered in the order of the printed form, each mention with a slot of its own,
    and those that nothing mentions are gone.
    """
    folding = _Folding(SlotTable(query.constants))
    numbered = SlotTable()
    numbering: Changes = {x.Slot: lambda slot: numbered.add(folding.slots[slot])}
    output = selection.changed(lambda part: rewrite(rewrite(part, folding.changes), numbering))
    return replace(query, output=output, constants=tuple(numbered.values))


def _living(alternatives: list[x.TwigNode]) -> list[x.TwigNode]:
    return [twig for twig in alternatives if twig.where != FALSE]


def _fold_twig(node: x.TwigNode) -> x.TwigNode:
    is_dead = any(b.node.where == FALSE and not b.optional for b in node.branches)
    return replace(node, where=FALSE) if is_dead else node


def _is_constant(atom: x.Atom) -> TypeGuard[x.Slot | x.Constant]:
    return isinstance(atom, x.Slot | x.Constant)


class _Folding:
    """Folds any expression; nodes remain nodes."""

    def __init__(self, slots: SlotTable) -> None:
        self.slots = slots
        self.changes: Changes = {
            **dict.fromkeys([x.And, x.Or, x.Not], simplified),
            **dict.fromkeys([x.Step, x.Filter], _fold_predicates),
            x.Compare: self.fold_comparison,
            x.Call: self.fold_call,
        }

    def fold_comparison(self, comparison: x.Compare) -> x.Atom:
        """Return a comparison, or the truth that it is."""
        return self.computed(comparison.operator, comparison.left, comparison.right) or comparison

    def fold_call(self, atom: x.Call) -> x.Atom:
        """Return a call, or the constant that it is."""
        return self.computed(atom.function, *atom.arguments) or atom

    def computed(self, function: str, *arguments: x.Atom) -> x.Atom | None:
        """Return what a function makes of constants; None if not all arguments are constants."""
        values = [self.slots[atom] for atom in arguments if _is_constant(atom)]
        if len(values) < len(arguments):
            return None
        value: Constant = call(function, values)
        is_truth = function in FLIPPED or type_of(x.Call(function, ())) is ValueType.BOOLEAN
        return self.slots.add(is_true(value) if is_truth else value)


def _fold_predicates(nodes: x.Step | x.Filter) -> x.Nodes:
    """Return nodes without the predicates that are always true."""
    predicates = tuple([predicate for predicate in nodes.predicates if predicate != TRUE])
    if isinstance(nodes, x.Filter) and not predicates:
        return nodes.base
    return replace(nodes, predicates=predicates)


class _TwigFolding(_Folding):
    """Folds twigs, which one constant may decide before a document is read."""

    def __init__(self, slots: SlotTable) -> None:
        super().__init__(slots)
        self.changes = {
            **self.changes,
            x.TwigNode: _fold_twig,
            x.Exists: lambda exists: FALSE if _is_dead(exists.nodes) else exists,
            x.AtRoot: lambda root: root.part if isinstance(root.part, x.Constant) else root,
            **dict.fromkeys([x.StringOf, x.NameOf], self.fold_first),
        }

    def fold_first(self, value: x.StringOf | x.NameOf) -> x.Atom:
        """Settle the value of a node that is never there."""
        return self.slots.add("") if _is_dead(value.nodes) else value

    def fold_comparison(self, comparison: x.Compare) -> x.Atom:
        """Compute a comparison of constants, put a constant on the right, settle NaN."""
        folded = super().fold_comparison(comparison)
        if not isinstance(folded, x.Compare):
            return folded
        operator, left, right = folded.operator, folded.left, folded.right
        if _is_constant(left):
            operator, left, right = FLIPPED[operator], right, left
        if _is_constant(right) and is_nan(self.slots[right]):
            # It is unequal to everything and compares with nothing.
            return TRUE if operator == "!=" else FALSE
        return x.Compare(operator, left, right)

    def fold_call(self, atom: x.Call) -> x.Atom:
        """Compute a call on constants, and calls that one constant already decides."""
        folded = super().fold_call(atom)
        if not isinstance(folded, x.Call):
            return folded
        function, arguments = folded.function, folded.arguments
        if function in ("string", "number", "boolean"):
            if type_of(arguments[0]) is ValueType(function):
                return arguments[0]
        elif function in _SETTLED_BY_EMPTY and self.is_empty(arguments[1]):
            # Every string contains the empty one.
            if function in ("contains", "starts-with"):
                return TRUE
            return self.slots.add("") if function == "substring-before" else arguments[0]
        return folded

    def is_empty(self, atom: x.Atom) -> bool:
        """Return whether an atom is the empty string."""
        return isinstance(atom, x.Slot) and is_empty(self.slots[atom])


def _is_dead(nodes: x.Nodes) -> bool:
    return isinstance(nodes, x.TwigNode) and nodes.where == FALSE
