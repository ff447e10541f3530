"""A ``self::`` step becomes a part of the node before it.

``a/self::node()[b]`` is ``a[b]``, ``*/self::a`` is ``a`` and ``a/self::b`` is nothing: the two
node tests meet in one. The same holds for ``[self::a]``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.nodetests import meet
from penstock.planning.traversal import rewrite_query
from penstock.twigs import FALSE, Axis, NodeTest, Query
from penstock.twigs import patterns as t
from penstock.twigs.logic import conjunction, conjuncts, simplified
from penstock.twigs.nodetests import ANY_NODE
from penstock.twigs.parts import map_parts


def merge_self_steps(query: Query) -> Query:
    """Return the query without the ``self::`` steps that add nothing but a condition."""
    return rewrite_query(query, {t.TwigNode: _merge, t.Exists: _unwrap})


def _merge(node: t.TwigNode) -> t.TwigNode:
    for branch in node.branches:
        merged = _merge_branch(node, branch)
        if merged is not None:
            return _merge(merged)
    where: list[t.Condition] = []
    waiting = list(conjuncts(node.where))
    while waiting:
        part = waiting.pop(0)
        test = _self_test(part)
        met = () if test is None else meet(node.test, test)
        if test is not None and len(met) == 1:
            assert isinstance(part, t.Exists)
            node = replace(node, test=met[0])
            waiting = [*conjuncts(part.node.where), *waiting]
        else:
            where.append(part)
    settled = conjunction(*[_settle(part, node.test) for part in where])
    return node if settled == node.where else replace(node, where=settled)


def _unwrap(exists: t.Exists) -> t.Condition:
    return exists.node.where if _self_test(exists) == ANY_NODE else exists


def _merge_branch(node: t.TwigNode, branch: t.Branch) -> t.TwigNode | None:
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
    return t.TwigNode(node.axis, test, where, variable, (*others, *below.branches))


def _self_test(condition: t.Condition) -> NodeTest | None:
    """Return the test of a condition that is a ``self::`` step, with or without predicates."""
    if isinstance(condition, t.Exists) and condition.node.axis is Axis.SELF:
        return None if condition.node.branches else condition.node.test
    return None


def _settle(condition: t.Condition, test: NodeTest) -> t.Condition:
    """Decide the ``self::`` steps of a condition at a node that is known to pass ``test``."""
    match condition:
        case t.And() | t.Or() | t.Not():
            return simplified(map_parts(condition, lambda part: _settle(part, test)))
        case t.Exists(node=node):
            wanted = _self_test(condition)
            if wanted is not None:
                met = meet(test, wanted)
                if not met:
                    return FALSE
                if met == (test,):
                    return _settle(node.where, test)
    return condition
