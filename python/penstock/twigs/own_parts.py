"""The parts of expressions that are evaluated at one context node."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from penstock.twigs import expressions as x
from penstock.twigs.nodetests import ANY_NODE, BELOW, Axis, NodeTest
from penstock.twigs.parts import map_parts, parts_of


def own_parts(expression: x.Expression) -> Iterator[x.Expression]:
    """Yield an expression and all its parts that are evaluated at its own context node.

    Predicates inside it are left out: they have context nodes of their own, as has what is
    evaluated at the parent.
    """
    waiting: list[x.Expression] = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case x.Step(base=base) | x.Filter(base=base):
                waiting.append(base)
            case x.Above():
                pass
            case _:
                waiting += parts_of(part)


def replace_own_parts(
    part: x.Expression, change: Callable[[x.Expression], x.Expression | None]
) -> Any:
    """Return an expression with some of its own parts changed, the outermost first.

    ``change`` returns what to put in the place of a part, or None to go on inside it.
    """
    changed = change(part)
    if changed is not None:
        return changed
    match part:
        case x.Step(base=base) | x.Filter(base=base):
            return replace(part, base=replace_own_parts(base, change))
        case x.Above():
            return part
        case _:
            return map_parts(part, lambda inner: replace_own_parts(inner, change))


def is_positional(atom: x.Atom) -> bool:
    """Return whether an atom asks for the position of its own context node, or for the last."""
    return any(isinstance(part, x.Position | x.Last) for part in own_parts(atom))


def add_step(
    base: x.Nodes, axis: Axis, test: NodeTest, predicates: tuple[x.Atom, ...] = ()
) -> x.Step:
    """Return a step from the nodes of ``base``, in one with a ``//`` that they end with.

    ``//a`` is one step; ``//a[1]`` counts the children of each node, and is two.
    """
    match base:
        case x.Step(axis=Axis.DESCENDANT_OR_SELF, predicates=()) if (
            base.test == ANY_NODE and axis in BELOW and not any(map(is_positional, predicates))
        ):
            return x.Step(base.base, BELOW[axis], test, predicates)
    return x.Step(base, axis, test, predicates)
