"""A path that turns back is asked of the nodes it ends at.

``//b/preceding-sibling::a`` becomes ``//a[following-sibling::b]``: the nodes of a set then join it
while they open, in document order, under a condition, instead of after the fact. What is decided
is the same, node by node, but nothing has to be remembered for a step that may come back.

Only paths from the document node are turned, and only up to their last step back; a step that
counts positions cannot be, because the count belongs to the node that the step starts from.
"""

from __future__ import annotations

from typing import Any

from penstock.twigs import Axis
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import ANY_NODE, BACK, DOCUMENT_NODE, DOWN
from penstock.twigs.own_parts import is_positional
from penstock.twigs.parts import rewrite

_INVERSE = {
    Axis.SELF: Axis.SELF,
    Axis.CHILD: Axis.PARENT,
    Axis.DESCENDANT: Axis.ANCESTOR,
    Axis.DESCENDANT_OR_SELF: Axis.ANCESTOR_OR_SELF,
    Axis.PARENT: Axis.CHILD,
    Axis.ANCESTOR: Axis.DESCENDANT,
    Axis.ANCESTOR_OR_SELF: Axis.DESCENDANT_OR_SELF,
    Axis.FOLLOWING_SIBLING: Axis.PRECEDING_SIBLING,
    Axis.PRECEDING_SIBLING: Axis.FOLLOWING_SIBLING,
    Axis.FOLLOWING: Axis.PRECEDING,
    Axis.PRECEDING: Axis.FOLLOWING,
}


def turn_backward_paths(expression: x.Expression) -> Any:
    """Return the expression with its absolute paths turned where they go back."""
    return rewrite(expression, {x.Step: _turn})


def _turn(path: x.Step) -> x.Nodes:
    steps: list[x.Step] = []
    base: x.Nodes = path
    while isinstance(base, x.Step):
        steps.append(base)
        base = base.base
    steps.reverse()
    back = [place for place, step in enumerate(steps) if step.axis in BACK]
    # From the document node only steps down lead anywhere; the others are over at once.
    if not isinstance(base, x.Root) or not back or steps[0].axis not in DOWN:
        return path
    last = back[-1]
    turned, rest = steps[: last + 1], steps[last + 1 :]
    if any(step.axis not in _INVERSE or _counts(step) for step in turned):
        return path
    nodes: x.Nodes = _ending(turned)
    for step in rest:
        nodes = x.Step(nodes, step.axis, step.test, step.predicates)
    return nodes


def _ending(steps: list[x.Step]) -> x.Step:
    """Return the nodes that the steps end at, with the way there as a condition."""
    way: x.Nodes = x.Here()
    for place in range(len(steps) - 1, -1, -1):
        inverse = _INVERSE[steps[place].axis]
        if place:
            before = steps[place - 1]
            way = x.Step(way, inverse, before.test, before.predicates)
        elif inverse is Axis.PARENT or not _is_within(steps[0]):
            way = x.Step(way, inverse, DOCUMENT_NODE)
    end = steps[-1]
    conditions: tuple[x.Atom, ...] = () if isinstance(way, x.Here) else (x.Exists(way),)
    return x.Step(x.Root(), Axis.DESCENDANT_OR_SELF, end.test, (*end.predicates, *conditions))


def _is_within(first: x.Step) -> bool:
    """Return whether every node that passes the first step's test is one that it reaches."""
    # All nodes but attributes and namespaces are the document node or below it.
    return first.axis is Axis.DESCENDANT_OR_SELF or first.test not in (ANY_NODE, DOCUMENT_NODE)


def _counts(step: x.Step) -> bool:
    return any(map(is_positional, step.predicates))
