"""From the syntax tree to forward twigs: the kinds of results, and what the modules share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.languages.xpath.chains import Chain, Context
from penstock.languages.xpath.conditions import lower_condition
from penstock.languages.xpath.functions import AGGREGATES, Type
from penstock.languages.xpath.namespaces import Namespaces
from penstock.languages.xpath.paths import lower_chains
from penstock.languages.xpath.reach import DOCUMENT
from penstock.languages.xpath.scalars import lower_number, lower_scalar, lower_string
from penstock.languages.xpath.scopes import Scope
from penstock.languages.xpath.syntax import Expression, FunctionCall
from penstock.twigs import Aggregate, Axis, Block, Fragments, NodeKind, NodeTest, Query, Value
from penstock.twigs import patterns as t
from penstock.twigs.parts import leaves, map_leaves
from penstock.twigs.queries import NoTwigError

RESULT = "result"
PARTS_MAX = 50_000
"""Parts of one query once its alternatives are written out."""

_ROOT_TEST = NodeTest(NodeKind.DOCUMENT)


class Lowering(Scope):
    """Lowers one text. The parts of the work live in modules of their own and meet here."""

    def __init__(
        self, text: str, namespaces: Namespaces, variables: Mapping[str, object] | None
    ) -> None:
        super().__init__(text, namespaces, variables)
        self.parts = 0

    # What the modules ask of each other
    chains = lower_chains
    condition = lower_condition
    scalar = lower_scalar
    string = lower_string
    number = lower_number

    def spend(self, parts: int) -> None:
        """Count parts of the query: short texts can stand for very many.

        Raises:
            NoTwigError: It has more than ``PARTS_MAX``.
        """
        self.parts += parts
        if self.parts > PARTS_MAX:
            raise NoTwigError(f"written out it has more than {PARTS_MAX} parts")

    def settle(self, atom: t.Compare | t.Holds) -> t.Condition:
        """Return the condition with absolute values moved to the document node.

        Raises:
            NoTwigError: It mixes them with values of the context node.
        """
        reads = [leaf for leaf in leaves(atom) if not isinstance(leaf, t.Slot | t.Call)]
        absolute = [leaf for leaf in reads if not isinstance(leaf, t.BooleanOf) and leaf.absolute]
        if not absolute:
            return atom
        if len(absolute) < len(reads):
            raise NoTwigError("a value mixes the document node with another context")
        return t.AtRoot(map_leaves(atom, _relative))


def _relative(leaf: t.Scalar) -> t.Scalar:
    """Return what a call is made of as it reads at the document node."""
    return replace(leaf, absolute=False) if isinstance(leaf, t.StringOf | t.NameOf) else leaf


def lower(expression: Expression, lowering: Lowering) -> Query:
    """Return the query that an expression is: nodes, an aggregate over nodes, or one value.

    Raises:
        QueryError: Something in it is unknown.
        NoTwigError: It takes an expression to say what it asks.
    """
    context = Context(DOCUMENT)
    match expression:
        case FunctionCall(name=name) if name in AGGREGATES:
            lowering.check_call(expression)
            twigs = _root_twigs(lowering.chains(expression.arguments[0], context))
            return _query(lowering, twigs, Aggregate(name, RESULT))
    if lowering.type_of(expression) is Type.NODES:
        return _query(lowering, _root_twigs(lowering.chains(expression, context)))
    scalar = lowering.scalar(expression, context)
    root = t.TwigNode(Axis.SELF, _ROOT_TEST)
    return _query(lowering, (root,), Value(scalar, t.type_of(scalar)))


def _query(
    lowering: Lowering,
    twigs: tuple[t.TwigNode, ...],
    output: Fragments | Aggregate | Value = Fragments(RESULT),  # noqa: B008  # frozen
) -> Query:
    constants = tuple(lowering.slots.values)
    return Query((Block(twigs),), output, constants, text=lowering.text)


def _root_twigs(chains: list[Chain]) -> tuple[t.TwigNode, ...]:
    """Return one twig for each chain, rooted at the document node."""
    twigs = []
    for chain in chains:
        node = chain.twig([(RESULT, ())])
        if node is None:
            twigs.append(t.TwigNode(Axis.SELF, _ROOT_TEST, variable=RESULT))
        else:
            twigs.append(t.TwigNode(Axis.SELF, _ROOT_TEST, branches=(t.Branch(node),)))
    return tuple(twigs)
