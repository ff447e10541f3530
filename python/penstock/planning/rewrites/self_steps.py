"""A ``self::`` step becomes a part of the node before it.

``a/self::node()[b]`` is ``a[b]``, ``*/self::a`` is ``a`` and ``a/self::b`` is nothing: the two
node tests meet in one. The same holds for ``[self::a]``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.nodetests import meet
from penstock.planning.traversal import Traversal
from penstock.twigs import (
    FALSE,
    And,
    Axis,
    Branch,
    Condition,
    Exists,
    NodeKind,
    NodeTest,
    Not,
    Or,
    Query,
    TwigNode,
)
from penstock.twigs.logic import conjunction, conjuncts, disjunction, negation


def merge_self_steps(query: Query) -> Query:
    """Return the query without the ``self::`` steps that add nothing but a condition."""
    return _SelfSteps().query(query)


class _SelfSteps(Traversal):
    def leave_twig(self, node: TwigNode) -> TwigNode:
        for branch in node.branches:
            merged = _merge_branch(node, branch)
            if merged is not None:
                return self.leave_twig(merged)
        where: list[Condition] = []
        waiting = list(conjuncts(node.where))
        while waiting:
            part = waiting.pop(0)
            test = _self_test(part)
            met = () if test is None else meet(node.test, test)
            if test is not None and len(met) == 1:
                assert isinstance(part, Exists)
                node = replace(node, test=met[0])
                waiting = [*conjuncts(part.node.where), *waiting]
            else:
                where.append(part)
        settled = [_settle(part, node.test) for part in where]
        return replace(node, where=conjunction(*settled))

    def leave_condition(self, condition: Condition) -> Condition:
        if _self_test(condition) == NodeTest(NodeKind.ANY):
            assert isinstance(condition, Exists)
            return condition.node.where
        return condition


def _merge_branch(node: TwigNode, branch: Branch) -> TwigNode | None:
    below = branch.node
    if below.axis is not Axis.SELF or branch.optional:
        return None
    if node.variable is not None and below.variable is not None:
        return None
    met = meet(node.test, below.test)
    if len(met) == 2:
        return None
    where = conjunction(node.where, below.where) if met else FALSE
    others = [other for other in node.branches if other is not branch]
    variable = node.variable if below.variable is None else below.variable
    test = met[0] if met else node.test
    return TwigNode(node.axis, test, where, variable, (*others, *below.branches))


def _self_test(condition: Condition) -> NodeTest | None:
    """Return the test of a condition that is a ``self::`` step, with or without predicates."""
    if isinstance(condition, Exists) and condition.node.axis is Axis.SELF:
        return None if condition.node.branches else condition.node.test
    return None


def _settle(condition: Condition, test: NodeTest) -> Condition:
    """Decide the ``self::`` steps of a condition at a node that is known to pass ``test``."""
    match condition:
        case And(parts=parts):
            return conjunction(*[_settle(part, test) for part in parts])
        case Or(parts=parts):
            return disjunction(*[_settle(part, test) for part in parts])
        case Not(part=part):
            return negation(_settle(part, test))
        case Exists(node=node):
            wanted = _self_test(condition)
            if wanted is not None:
                met = meet(test, wanted)
                if not met:
                    return FALSE
                if met == (test,):
                    return _settle(node.where, test)
    return condition
