"""The parts of recognition meet here, and what they recognise becomes a query."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom
from penstock.twigs.nodetests import DOCUMENT_NODE, Axis
from penstock.twigs.outputs import Aggregate, Fragments, Value
from penstock.twigs.queries import Block, NoTwigError, Query
from penstock.twigs.slots import SlotTable
from penstock.twigs.subforms.chains import Chain
from penstock.twigs.subforms.conditions import recognise_condition
from penstock.twigs.subforms.paths import extend_chain, recognise_chains, recognise_predicates
from penstock.twigs.subforms.reach import DOCUMENT, Kinds
from penstock.twigs.subforms.values import recognise_value

RESULT = "result"
PARTS_MAX = 50_000
"""Parts of one query once its alternatives are written out."""


class Recognition:
    """Recognises the parts of one query; ``kinds`` are those that the context node may have."""

    chains = recognise_chains
    extended = extend_chain
    predicates = recognise_predicates
    condition = recognise_condition
    value = recognise_value

    def __init__(self, slots: SlotTable) -> None:
        self.slots = slots
        self.parts = 0

    def spend(self, parts: int) -> None:
        """Count parts of the query: short texts can stand for very many.

        Raises:
            NoTwigError: It has more than ``PARTS_MAX``.
        """
        self.parts += parts
        if self.parts > PARTS_MAX:
            raise NoTwigError(f"written out it has more than {PARTS_MAX} parts")


def as_twigs(general: Query, selection: x.Selection, constants: Iterable[Atom]) -> Query:
    """Return a query that is one expression as twigs.

    ``selection`` is its output or, where that looks back, one that selects the same; the slots in
    it are those of ``constants``.

    Raises:
        NoTwigError: It takes an expression to say what it asks.
    """
    slots = SlotTable(constants)
    recognition = Recognition(slots)
    expression = selection.expression
    output: Fragments | Aggregate | Value
    if isinstance(expression, x.Nodes):
        twigs = tuple([_rooted(chain) for chain in recognition.chains(expression, DOCUMENT)])
        output = Fragments(RESULT)
        if selection.aggregate is not None:
            output = Aggregate(selection.aggregate, RESULT)
    else:
        value = recognition.value(expression, DOCUMENT, [])
        twigs = (x.TwigNode(Axis.SELF, DOCUMENT_NODE),)
        output = Value(value, x.type_of(value))
    table = tuple(slots.values)
    return replace(general, blocks=(Block(twigs),), output=output, constants=table, general=general)


def as_condition(atom: x.Atom, kinds: Kinds, slots: SlotTable) -> x.Condition:
    """Return a truth value at nodes of some kinds as a condition of a twig.

    Raises:
        NoTwigError: It is none.
    """
    return Recognition(slots).condition(atom, kinds)


def _rooted(chain: Chain) -> x.TwigNode:
    """Return the twig of a chain, from the document node."""
    node = chain.twig([(RESULT, ())])
    if node is None:
        return x.TwigNode(Axis.SELF, DOCUMENT_NODE, variable=RESULT)
    return x.TwigNode(Axis.SELF, DOCUMENT_NODE, branches=(x.Branch(node),))
