"""Lowering of location paths to chains of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.chains import Chain, ChainStep, Context
from penstock.languages.xpath.functions import Type
from penstock.languages.xpath.namespaces import NO_NAMESPACE
from penstock.languages.xpath.reach import DOCUMENT, Kinds, has_children, reach
from penstock.twigs import TRUE, Axis, Condition, NodeKind, NodeTest
from penstock.twigs.logic import conjunction
from penstock.twigs.queries import NoTwigError

if TYPE_CHECKING:
    from penstock.languages.xpath.lowering import Lowering
    from penstock.languages.xpath.scopes import Scope

FORWARD = frozenset(
    {Axis.SELF, Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE}
)
"""The axes of a twig."""

_PRINCIPAL = {Axis.ATTRIBUTE: NodeKind.ATTRIBUTE, Axis.NAMESPACE: NodeKind.NAMESPACE}
_KINDS = {
    "node": NodeKind.ANY,
    "text": NodeKind.TEXT,
    "comment": NodeKind.COMMENT,
    "processing-instruction": NodeKind.INSTRUCTION,
}


def lower_chains(lowering: Lowering, expression: s.Expression, context: Context) -> list[Chain]:
    """Return the alternatives of a node-set; those that can never match are left out.

    Raises:
        QueryError: The expression is no node-set.
        NoTwigError: A part of it is none.
    """
    match expression:
        case s.Path(start=None):
            # At the document node a relative path is the absolute one.
            absolute = expression.absolute and not context.is_document
            kinds = DOCUMENT if expression.absolute else context.kinds
            chains = [Chain(absolute, (), kinds)]
        case s.Path(start=start):
            assert start is not None
            chains = lower_chains(lowering, start, context)
        case s.Union(parts=parts):
            found: dict[Chain, None] = {}
            for part in parts:
                found.update(dict.fromkeys(lower_chains(lowering, part, context)))
            return list(found)
        case s.Filter(primary=primary, predicates=predicates):
            chains = lower_chains(lowering, primary, context)
            lowering.spend(len(chains))
            return [c.guarded(lower_predicates(lowering, predicates, c.kinds)) for c in chains]
        case _:
            if lowering.type_of(expression) is Type.NODES:
                raise NoTwigError("`id()` needs declared ids")
            raise lowering.not_nodes(expression)
    for step in expression.steps:
        chains = [lower_step(lowering, chain, step) for chain in chains]
    return [chain for chain in chains if chain.kinds]


def lower_step(lowering: Lowering, chain: Chain, step: s.Step) -> Chain:
    """Return the chain with one more step, its predicates lowered."""
    lowering.spend(1)
    if step.axis not in FORWARD:
        raise NoTwigError(f"`{step.axis.value}::` looks back or along document order")
    test = lower_test(lowering, step)
    kinds = reach(chain.kinds, step.axis, test)
    where = lower_predicates(lowering, step.predicates, kinds)
    axis = step.axis
    if axis is Axis.DESCENDANT_OR_SELF and not has_children(chain.kinds):
        axis = Axis.SELF
    if axis is Axis.SELF and test.kind is NodeKind.ANY and where == TRUE:
        return chain
    return chain.then(ChainStep(axis, test, where, chain.kinds), kinds)


def lower_test(scope: Scope, step: s.Step) -> NodeTest:
    """Return the node test of a step, its prefix resolved."""
    principal = _PRINCIPAL.get(step.axis, NodeKind.ELEMENT)
    match step.test:
        case s.KindTest(kind="node") if principal is not NodeKind.ELEMENT:
            return NodeTest(principal)
        case s.KindTest(kind=kind, target=target):
            return NodeTest(_KINDS[kind], target)
        case s.NameTest(prefix=prefix, local=local, span=span):
            if prefix is not None:
                return NodeTest(principal, local, scope.namespaces.of_prefix(prefix, span))
            if local is None:
                return NodeTest(principal)
            is_element = principal is NodeKind.ELEMENT
            uris = scope.namespaces.of_element() if is_element else NO_NAMESPACE
            return NodeTest(principal, local, uris)


def lower_predicates(
    lowering: Lowering, predicates: tuple[s.Expression, ...], kinds: Kinds
) -> Condition:
    """Return all predicates of a step as one condition.

    Raises:
        NoTwigError: A predicate is a number and so asks for a position (section 2.4).
    """
    parts = []
    for predicate in predicates:
        if lowering.type_of(predicate) is Type.NUMBER:
            raise NoTwigError("a predicate that is a number selects by position")
        parts.append(lowering.condition(predicate, Context(kinds)))
    return conjunction(*parts)
