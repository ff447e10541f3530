"""The normal form of regular paths, one step after the other.

Most paths of joins consist of child, descendant and attribute steps with names, under conditions
that such paths exist. Rewrites find little to do there: ``//`` becomes a descendant step, and
conditions are put in order. Both look at one step and the next, so a step has its form whatever
path it is on. What is not regular goes through all rewrites, and the outcome is the same.
"""

from __future__ import annotations

from penstock.planning.rewrites.canonical_order import order_parts
from penstock.twigs import TRUE, And, Axis, Branch, Condition, Exists, NodeKind, NodeTest, TwigNode
from penstock.twigs.logic import conjunction

_STEPS = {
    (Axis.SELF, NodeKind.DOCUMENT),
    (Axis.CHILD, NodeKind.ELEMENT),
    (Axis.DESCENDANT, NodeKind.ELEMENT),
    (Axis.ATTRIBUTE, NodeKind.ATTRIBUTE),
}
_ANYTHING = NodeTest(NodeKind.ANY)


def regular_step(twig: TwigNode, where: Condition) -> TwigNode | None:
    """Return a step of a path in normal form, without what is below it; None if it has none here.

    ``where`` is its condition on that path.
    """
    if where == TRUE:
        normal: Condition | None = TRUE
    else:
        normal = _condition(where)
    if normal is None or not (_is_any_depth(twig, normal) or _is_plain(twig)):
        return None
    return TwigNode(twig.axis, twig.test, normal)


def prepend(step: TwigNode, path: TwigNode | None, mark: str | None) -> TwigNode | None:
    """Return a path with a regular step before it; None if the two are not regular together."""
    if _is_any_depth(step, step.where):
        is_below = path is not None and mark is None
        return _at_any_depth(path) if is_below and path is not None else None
    if path is None:
        return TwigNode(step.axis, step.test, step.where, mark)
    if step.axis is Axis.ATTRIBUTE:
        return None
    return TwigNode(step.axis, step.test, step.where, mark, (Branch(path),))


def regular_path(path: TwigNode) -> TwigNode | None:
    """Return a whole path in normal form, if it is a regular one."""
    steps = [path]
    while steps[-1].branches:
        steps.append(steps[-1].branches[0].node)
    normal: TwigNode | None = None
    for twig in reversed(steps):
        step = None if len(twig.branches) > 1 else regular_step(twig, twig.where)
        normal = None if step is None else prepend(step, normal, twig.variable)
        if normal is None:
            return None
    return normal


def _condition(condition: Condition) -> Condition | None:
    match condition:
        case Exists(nodes=TwigNode() as node):
            return _existence(node)
        case And(parts=parts):
            made = [_condition(part) for part in parts]
            found = [part for part in made if part is not None]
            if len(found) < len(made):
                return None
            return order_parts(conjunction(*found), ())
        case _:
            return None


def _existence(twig: TwigNode) -> Condition | None:
    where = TRUE if twig.where == TRUE else _condition(twig.where)
    if where is None or twig.branches:
        return None
    if twig.axis is Axis.DESCENDANT_OR_SELF and twig.test == _ANYTHING:
        match where:
            case Exists(nodes=TwigNode() as path):
                below = _at_any_depth(path)
                return None if below is None else Exists(below)
        return None
    is_leaf = twig.axis is not Axis.ATTRIBUTE or where == TRUE
    return Exists(TwigNode(twig.axis, twig.test, where)) if _is_plain(twig) and is_leaf else None


def _is_plain(twig: TwigNode) -> bool:
    return (twig.axis, twig.test.kind) in _STEPS


def _is_any_depth(twig: TwigNode, where: Condition) -> bool:
    is_any = twig.axis is Axis.DESCENDANT_OR_SELF and twig.test == _ANYTHING
    return is_any and where == TRUE


def _at_any_depth(path: TwigNode) -> TwigNode | None:
    """Return the path after ``descendant-or-self::node()``."""
    if path.axis is Axis.CHILD:
        return TwigNode(Axis.DESCENDANT, path.test, path.where, path.variable, path.branches)
    return path if path.axis is Axis.DESCENDANT else None
