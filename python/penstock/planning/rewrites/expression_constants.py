"""What an expression computes of constants alone is computed now.

Afterwards constants are numbered in the order of the printed form, each mention with a slot of
its own, and those that nothing mentions are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penstock.planning.values import call, compare, is_true
from penstock.twigs import Query, Slot
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.expression_parts import parts_of, with_parts
from penstock.twigs.expressions import (
    All,
    Apply,
    Atom,
    Expression,
    Filter,
    Inverse,
    Selection,
    Some,
    Step,
)
from penstock.twigs.slots import SlotTable

_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})


def fold_expression(query: Query, selection: Selection) -> Query:
    """Return the query of a selection with its constants computed and numbered."""
    folding = _Folding(query.constants)
    expression = folding.fold(selection.expression)
    beside = [(name, folding.fold(nodes)) for name, nodes in selection.beside]
    numbering = _Numbering(folding.slots.values)
    folded = replace(
        selection,
        expression=numbering.number(expression),
        beside=tuple([(name, numbering.number(nodes)) for name, nodes in beside]),
    )
    return replace(query, output=folded, constants=tuple(numbering.slots.values))


class _Folding:
    def __init__(self, constants: Sequence[Constant]) -> None:
        self.slots = SlotTable(constants)

    def fold(self, expression: Expression) -> Any:
        """Return the expression with whatever is constant as a slot; nodes remain nodes."""
        folded = with_parts(expression, [self.fold(part) for part in parts_of(expression)])
        match folded:
            case Apply(arguments=arguments) if all(isinstance(one, Slot) for one in arguments):
                return self.slots.add(self.value_of(folded))
            case Inverse(part=Slot() as part):
                return self.slots.add(not is_true(self.slots[part]))
            case All() | Some():
                return self.joined(folded)
            case Step(predicates=predicates):
                return replace(folded, predicates=self.needed(predicates))
            case Filter(base=base, predicates=predicates):
                needed = self.needed(predicates)
                return Filter(base, needed) if needed else base
            case _:
                return folded

    def value_of(self, apply: Apply) -> Constant:
        values = [self.slots[one] for one in apply.arguments if isinstance(one, Slot)]
        if apply.function in _COMPARISONS:
            return compare(apply.function, values[0], values[1])
        return call(apply.function, values)

    def joined(self, connective: All | Some) -> Atom:
        """Return a connective without constants, or the constant that it is."""
        absorbing = isinstance(connective, Some)
        constants = [self.slots[part] for part in connective.parts if isinstance(part, Slot)]
        if any(is_true(constant) is absorbing for constant in constants):
            return self.slots.add(absorbing)
        others = tuple([part for part in connective.parts if not isinstance(part, Slot)])
        if not others:
            return self.slots.add(not absorbing)
        return others[0] if len(others) == 1 else type(connective)(others)

    def needed(self, predicates: tuple[Atom, ...]) -> tuple[Atom, ...]:
        """Return the predicates without those that are always true."""
        return tuple(
            [one for one in predicates if not (isinstance(one, Slot) and is_true(self.slots[one]))]
        )


class _Numbering:
    def __init__(self, constants: Sequence[Constant]) -> None:
        self.constants = constants
        self.slots = SlotTable()

    def number(self, expression: Expression) -> Any:
        """Return the expression with its own slots."""
        if isinstance(expression, Slot):
            return self.slots.add(self.constants[expression.index])
        return with_parts(expression, [self.number(part) for part in parts_of(expression)])
