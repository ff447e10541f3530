"""Values that a twig can compute of the nodes it reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.twigs import expressions as x
from penstock.twigs.nodetests import Axis
from penstock.twigs.queries import NoTwigError
from penstock.twigs.subforms.chains import Chain
from penstock.twigs.subforms.reach import Kinds

if TYPE_CHECKING:
    from penstock.twigs.subforms.recognition import Recognition

VALUE_VARIABLE = "value"
"""Marks the node of a twig inside ``StringOf`` and ``NameOf`` whose value is taken."""

Reads = list[bool]
"""For each node that a value reads, whether the path to it is absolute."""


def recognise_value(recognition: Recognition, atom: x.Atom, kinds: Kinds, reads: Reads) -> x.Atom:
    """Return a value that a twig can compute; what it reads is added to ``reads``.

    Raises:
        NoTwigError: It cannot.
    """
    match atom:
        case x.Slot() | x.Constant():
            return atom
        case x.StringOf(nodes=nodes):
            chain = _only_chain(recognition, nodes, kinds)
            return recognition.slots.add("") if chain is None else string_of(chain, reads)
        case x.NameOf(part=part, nodes=nodes):
            chain = _only_chain(recognition, nodes, kinds)
            return (
                recognition.slots.add("") if chain is None else x.NameOf(part, _read(chain, reads))
            )
        case x.Call(function=function, arguments=arguments) if not x.is_condition(atom):
            values = [recognition.value(argument, kinds, reads) for argument in arguments]
            return x.Call(function, tuple(values))
        case _ if x.is_condition(atom):
            reads.append(False)
            return recognition.condition(atom, kinds)
        case _:
            raise NoTwigError(f"{type(atom).__name__} is part of a value or of a condition")


def _only_chain(recognition: Recognition, nodes: x.Nodes, kinds: Kinds) -> Chain | None:
    """Return the one alternative of a set; None if it never has a node.

    Raises:
        NoTwigError: The first node of a union is no twig's.
    """
    chains = recognition.chains(nodes, kinds)
    if len(chains) > 1:
        raise NoTwigError("the value of a union is taken")
    return chains[0] if chains else None


def _read(chain: Chain, reads: Reads) -> x.Nodes:
    """Return the nodes of a chain as a value reads them."""
    reads.append(chain.absolute)
    return chain.twig([(VALUE_VARIABLE, ())]) or x.Here()


def string_of(chain: Chain, reads: Reads) -> x.StringOf:
    """Return the string value of the first node of a chain."""
    return x.StringOf(_read(chain, reads))


def string_of_single(chain: Chain, reads: Reads) -> x.StringOf:
    """Return the string of a chain with at most one node, which is known to exist."""
    if not chain.absolute and all(step.axis is Axis.SELF for step in chain.steps):
        reads.append(False)
        return x.StringOf()
    return string_of(chain, reads)


def settle(atom: x.Compare | x.Call, reads: Reads) -> x.Condition:
    """Return a condition with absolute values at the document node.

    Raises:
        NoTwigError: It mixes them with values of the context node.
    """
    if not any(reads):
        return atom
    if not all(reads):
        raise NoTwigError("a value mixes the document node with another context")
    return x.AtRoot(atom)
