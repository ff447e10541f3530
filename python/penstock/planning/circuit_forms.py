"""The form of an expression that the circuit evaluates: all rewrites for it, in their order.

The results of a document and the bytes that decide them stay the same. Verdicts and the oracle
speak of the expression as it was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.planning.rewrites.absolute_comparisons import compare_node_by_node
from penstock.planning.rewrites.backward_paths import turn_backward_paths
from penstock.planning.rewrites.child_positions import count_child_positions
from penstock.planning.rewrites.counts_of_none import ask_for_existence
from penstock.planning.rewrites.end_positions import count_from_the_end
from penstock.planning.rewrites.parent_atoms import ask_parents
from penstock.planning.rewrites.sibling_steps import turn_sibling_steps
from penstock.twigs import Selection
from penstock.twigs.blanks import Atom as Constant
from penstock.twigs.expressions import Expression
from penstock.twigs.slots import SlotTable


def to_circuit_form(
    selection: Selection, constants: Sequence[Constant]
) -> tuple[Selection, list[Constant]]:
    """Return a selection as the circuit evaluates it, and its constants: the same and more."""
    slots = SlotTable(constants)
    return selection.changed(lambda expression: _rewrite(expression, slots)), slots.values


def _rewrite(expression: Expression, slots: SlotTable) -> Any:
    expression = count_from_the_end(expression, slots)
    expression = count_child_positions(expression, slots)
    expression = turn_sibling_steps(expression, slots)
    expression = ask_for_existence(expression, slots)
    expression = compare_node_by_node(expression)
    expression = ask_parents(expression, slots)
    return turn_backward_paths(expression)
