"""Lowering of location paths to chains of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath.chains import Chain, ChainStep, Context
from penstock.languages.xpath.functions import Type
from penstock.languages.xpath.reach import DOCUMENT, Kinds, has_children, reach
from penstock.languages.xpath.refusals import refused_axis, refused_position
from penstock.languages.xpath.syntax import (
    Expression,
    Filter,
    KindTest,
    NameTest,
    Path,
    Step,
    Union,
)
from penstock.twigs import TRUE, Axis, Condition, NodeKind, NodeTest
from penstock.twigs.logic import conjunction

if TYPE_CHECKING:
    from penstock.languages.xpath.lowering import Lowering

_KINDS = {
    "node": NodeKind.ANY,
    "text": NodeKind.TEXT,
    "comment": NodeKind.COMMENT,
    "processing-instruction": NodeKind.INSTRUCTION,
}


def lower_chains(lowering: Lowering, expression: Expression, context: Context) -> list[Chain]:
    """Return the alternatives of a node-set; those that can never match are left out.

    Raises:
        QueryError: The expression is no node-set, or a part of it is not evaluated.
    """
    match expression:
        case Path(start=None):
            # At the document node a relative path is the absolute one.
            absolute = expression.absolute and not context.is_document
            kinds = DOCUMENT if expression.absolute else context.kinds
            chains = [Chain(absolute, (), kinds)]
        case Path(start=start):
            assert start is not None
            chains = lower_chains(lowering, start, context)
        case Union(parts=parts):
            found: dict[Chain, None] = {}
            for part in parts:
                found.update(dict.fromkeys(lower_chains(lowering, part, context)))
            return list(found)
        case Filter(primary=primary, predicates=predicates):
            chains = lower_chains(lowering, primary, context)
            lowering.spend(len(chains), expression.span)
            return [c.guarded(lower_predicates(lowering, predicates, c.kinds)) for c in chains]
        case _:
            if lowering.type_of(expression) is Type.NODES:  # a call, and id() alone gives nodes
                lowering.scalar(expression, context)
            raise lowering.not_nodes(expression)
    for step in expression.steps:
        chains = [lower_step(lowering, chain, step) for chain in chains]
    return [chain for chain in chains if chain.kinds]


def lower_step(lowering: Lowering, chain: Chain, step: Step) -> Chain:
    """Return the chain with one more step, its predicates lowered."""
    lowering.spend(1, step.span)
    written_span = (step.axis_span[0], step.test.span[1])
    written = lowering.text[slice(*written_span)]
    refusal = refused_axis(step.axis, written, written_span, lowering.text)
    if refusal is not None:
        raise refusal
    test = lower_test(lowering, step)
    kinds = reach(chain.kinds, step.axis, test)
    where = lower_predicates(lowering, step.predicates, kinds)
    axis = step.axis
    if axis is Axis.DESCENDANT_OR_SELF and not has_children(chain.kinds):
        axis = Axis.SELF
    if axis is Axis.SELF and test.kind is NodeKind.ANY and where == TRUE:
        return chain
    return chain.then(ChainStep(axis, test, where, chain.kinds), kinds)


def lower_test(lowering: Lowering, step: Step) -> NodeTest:
    """Return the node test of a step, its prefix resolved."""
    is_attribute = step.axis is Axis.ATTRIBUTE
    match step.test:
        case KindTest(kind="node") if is_attribute:
            return NodeTest(NodeKind.ATTRIBUTE)
        case KindTest(kind=kind, target=target):
            return NodeTest(_KINDS[kind], target)
        case NameTest(prefix=prefix, local=local, span=span):
            principal = NodeKind.ATTRIBUTE if is_attribute else NodeKind.ELEMENT
            if prefix is not None:
                return NodeTest(principal, local, lowering.namespaces.of_prefix(prefix, span))
            if local is None:
                return NodeTest(principal)
            uris = ("",) if is_attribute else lowering.namespaces.of_element()
            return NodeTest(principal, local, uris)


def lower_predicates(
    lowering: Lowering, predicates: tuple[Expression, ...], kinds: Kinds
) -> Condition:
    """Return all predicates of a step as one condition.

    Raises:
        QueryError: A predicate is a number and so asks for a position (section 2.4).
    """
    parts = []
    for predicate in predicates:
        if lowering.type_of(predicate) is Type.NUMBER:
            # What the number is made of may be refused by a better name.
            lowering.scalar(predicate, Context(kinds))
            raise refused_position(predicate.span, lowering.text)
        parts.append(lowering.condition(predicate, Context(kinds)))
    return conjunction(*parts)
