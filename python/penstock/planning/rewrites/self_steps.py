"""A ``self::`` step becomes a part of the node before it.

``a/self::node()[b]`` is ``a[b]``, ``*/self::a`` is ``a`` and ``a/self::b`` is nothing: the two
node tests meet in one. The same holds for ``[self::a]``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.nodetests import meet
from penstock.planning.traversal import rewrite_query
from penstock.twigs import FALSE, Axis, NodeTest, Query
from penstock.twigs import expressions as x
from penstock.twigs.logic import conjunction, conjuncts, simplified
from penstock.twigs.nodetests import ANY_NODE
from penstock.twigs.parts import map_parts


def merge_self_steps(query: Query) -> Query:
    """Return the query without the ``self::`` steps that add nothing but a condition."""
    return rewrite_query(query, {x.TwigNode: _merge, x.Exists: _unwrap})


def _merge(node: x.TwigNode) -> x.TwigNode:
    for branch in node.branches:
        merged = _merge_branch(node, branch)
        if merged is not None:
            return _merge(merged)
    where: list[x.Condition] = []
    waiting = list(conjuncts(node.where))
    while waiting:
        part = waiting.pop(0)
        step = _self_step(part)
        met = () if step is None else meet(node.test, step.test)
        if step is not None and len(met) == 1:
            node = replace(node, test=met[0])
            waiting = [*conjuncts(step.where), *waiting]
        else:
            where.append(part)
    settled = conjunction(*[_settle(part, node.test) for part in where])
    return node if settled == node.where else replace(node, where=settled)


def _unwrap(exists: x.Exists) -> x.Condition:
    step = _self_step(exists)
    return step.where if step is not None and step.test == ANY_NODE else exists


def _merge_branch(node: x.TwigNode, branch: x.Branch) -> x.TwigNode | None:
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
    return x.TwigNode(node.axis, test, where, variable, (*others, *below.branches))


def _self_step(condition: x.Condition) -> x.TwigNode | None:
    """Return the step of a condition that is a ``self::`` step, with or without predicates."""
    match condition:
        case x.Exists(nodes=x.TwigNode(axis=Axis.SELF, branches=()) as step):
            return step
    return None


def _settle(condition: x.Condition, test: NodeTest) -> x.Condition:
    """Decide the ``self::`` steps of a condition at a node that is known to pass ``test``."""
    match condition:
        case x.And() | x.Or() | x.Not():
            return simplified(map_parts(condition, lambda part: _settle(part, test)))
        case x.Exists():
            step = _self_step(condition)
            if step is not None:
                met = meet(test, step.test)
                if not met:
                    return FALSE
                if met == (test,):
                    return _settle(step.where, test)
    return condition
