"""Truth values that a twig can ask of a node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.twigs import expressions as x
from penstock.twigs.logic import conjunction, disjunction
from penstock.twigs.queries import NoTwigError
from penstock.twigs.subforms.comparisons import compare_pairs, compare_some, compare_values
from penstock.twigs.subforms.reach import Kinds
from penstock.twigs.subforms.values import Reads, settle

if TYPE_CHECKING:
    from penstock.twigs.subforms.recognition import Recognition


def recognise_condition(recognition: Recognition, atom: x.Atom, kinds: Kinds) -> x.Condition:
    """Return a truth value as a condition of a twig."""
    match atom:
        case x.Constant():
            return atom
        case x.And(parts=parts):
            return conjunction(*[recognition.condition(part, kinds) for part in parts])
        case x.Or(parts=parts):
            return disjunction(*[recognition.condition(part, kinds) for part in parts])
        case x.Not(part=part):
            return x.Not(recognition.condition(part, kinds))
        case x.Exists(nodes=nodes):
            return disjunction(*[chain.exists() for chain in recognition.chains(nodes, kinds)])
        case x.SomeCompare():
            return compare_some(recognition, atom, kinds)
        case x.PairCompare():
            return compare_pairs(recognition, atom, kinds)
        case x.Compare():
            return compare_values(recognition, atom, kinds)
        case x.Call(function=function, arguments=arguments):
            reads: Reads = []
            values = [recognition.value(argument, kinds, reads) for argument in arguments]
            return settle(x.Call(function, tuple(values)), reads)
        case _:
            raise NoTwigError(f"{type(atom).__name__} is no condition")
