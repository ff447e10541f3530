"""Paths that a twig can follow: forward, from the context node or from the document node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.twigs import expressions as x
from penstock.twigs.expressions import TRUE
from penstock.twigs.logic import conjunction
from penstock.twigs.nodetests import Axis, NodeKind
from penstock.twigs.queries import NoTwigError
from penstock.twigs.subforms.chains import Chain, ChainStep
from penstock.twigs.subforms.reach import DOCUMENT, FORWARD, Kinds, has_children, reach

if TYPE_CHECKING:
    from penstock.twigs.subforms.recognition import Recognition


def recognise_chains(recognition: Recognition, nodes: x.Nodes, kinds: Kinds) -> list[Chain]:
    """Return the alternatives of a set; those that can never match are left out.

    Raises:
        NoTwigError: A part of it is no twig.
    """
    steps: list[x.Step] = []
    while isinstance(nodes, x.Step):
        steps.append(nodes)
        nodes = nodes.base
    match nodes:
        case x.Here():
            chains = [Chain(False, (), kinds)]
        case x.Root():
            # At the document node a relative path is the absolute one.
            chains = [Chain(kinds != DOCUMENT, (), DOCUMENT)]
        case x.Union(parts=parts):
            distinct: dict[Chain, None] = {}
            for part in parts:
                distinct.update(dict.fromkeys(recognition.chains(part, kinds)))
            chains = list(distinct)
        case x.Filter(base=base, predicates=predicates):
            chains = recognition.chains(base, kinds)
            recognition.spend(len(chains))
            chains = [c.guarded(recognition.predicates(predicates, c.kinds)) for c in chains]
        case _:
            raise NoTwigError("`id()` needs declared ids")
    for step in reversed(steps):
        chains = [recognition.extended(chain, step) for chain in chains]
    return [chain for chain in chains if chain.kinds]


def extend_chain(recognition: Recognition, chain: Chain, step: x.Step) -> Chain:
    """Return a chain with one more step, whatever that step starts from."""
    recognition.spend(1)
    axis, test = step.axis, step.test
    if axis not in FORWARD:
        raise NoTwigError(f"`{axis.value}::` looks back or along document order")
    kinds = reach(chain.kinds, axis, test)
    where = recognition.predicates(step.predicates, kinds)
    if axis is Axis.DESCENDANT_OR_SELF and not has_children(chain.kinds):
        axis = Axis.SELF
    if axis is Axis.SELF and test.kind is NodeKind.ANY and where == TRUE:
        return chain
    return chain.then(ChainStep(axis, test, where, chain.kinds), kinds)


def recognise_predicates(
    recognition: Recognition, predicates: tuple[x.Atom, ...], kinds: Kinds
) -> x.Condition:
    """Return all predicates of a step as one condition."""
    return conjunction(*[recognition.condition(predicate, kinds) for predicate in predicates])
