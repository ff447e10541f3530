"""What an expression computes of constants alone is computed now.

Afterwards constants are numbered in the order of the printed form, each mention with a slot of
its own, and those that nothing mentions are gone.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.values import call, is_true
from penstock.twigs import Query, Slot
from penstock.twigs import expressions as x
from penstock.twigs.parts import Changes, rewrite
from penstock.twigs.slots import SlotTable


def fold_expression(query: Query, selection: x.Selection) -> Query:
    """Return the query of a selection with its constants computed and numbered."""
    folding = _Folding(SlotTable(query.constants))
    numbered = SlotTable()
    numbering = {Slot: lambda slot: numbered.add(folding.slots[slot])}
    output = selection.changed(lambda part: rewrite(rewrite(part, folding.changes), numbering))
    return replace(query, output=output, constants=tuple(numbered.values))


class _Folding:
    def __init__(self, slots: SlotTable) -> None:
        self.slots = slots
        self.changes: Changes = {
            x.Apply: self.applied,
            x.Inverse: self.inverse,
            x.All: self.joined,
            x.Some: self.joined,
            x.Step: self.selected,
            x.Filter: self.selected,
        }
        """Whatever is constant becomes a slot; nodes remain nodes."""

    def applied(self, apply: x.Apply) -> x.Atom:
        """Return a call, or the constant that it is."""
        values = [self.slots[atom] for atom in apply.arguments if isinstance(atom, Slot)]
        is_constant = len(values) == len(apply.arguments)
        return self.slots.add(call(apply.function, values)) if is_constant else apply

    def inverse(self, inverse: x.Inverse) -> x.Atom:
        """Return a negation, or the constant that it is."""
        part = inverse.part
        return self.slots.add(not is_true(self.slots[part])) if isinstance(part, Slot) else inverse

    def joined(self, connective: x.All | x.Some) -> x.Atom:
        """Return a connective without constants, or the constant that it is."""
        absorbing = isinstance(connective, x.Some)
        constants = [self.slots[part] for part in connective.parts if isinstance(part, Slot)]
        if any(is_true(constant) is absorbing for constant in constants):
            return self.slots.add(absorbing)
        others = tuple([part for part in connective.parts if not isinstance(part, Slot)])
        if not others:
            return self.slots.add(not absorbing)
        return others[0] if len(others) == 1 else type(connective)(others)

    def selected(self, nodes: x.Step | x.Filter) -> x.Nodes:
        """Return nodes without the predicates that are always true."""
        predicates = tuple(
            predicate
            for predicate in nodes.predicates
            if not (isinstance(predicate, Slot) and is_true(self.slots[predicate]))
        )
        if isinstance(nodes, x.Filter) and not predicates:
            return nodes.base
        return replace(nodes, predicates=predicates)
