"""Expressions taken apart and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from penstock.twigs.expressions import (
    Above,
    All,
    Apply,
    Atom,
    Expression,
    Filter,
    Here,
    Identified,
    Inverse,
    Last,
    Nodes,
    PairCompare,
    Position,
    Root,
    Some,
    SomeCompare,
    Step,
    Union,
)
from penstock.twigs.nodetests import ANY_NODE, BELOW, Axis, NodeTest
from penstock.twigs.patterns import Slot


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """Return the expressions that one is made of, in the order of the printed form."""
    match expression:
        case Step(base=base, predicates=predicates) | Filter(base=base, predicates=predicates):
            return (base, *predicates)
        case Union(parts=parts) | All(parts=parts) | Some(parts=parts):
            return parts
        case Identified(words=part) | Inverse(part=part):
            return (part,)
        case Apply(arguments=arguments):
            return arguments
        case SomeCompare(nodes=nodes, value=value):
            return nodes, value
        case PairCompare(left=left, right=right):
            return left, right
        case Above(atom=atom, otherwise=otherwise):
            return atom, otherwise
        case Slot() | Here() | Root() | Position() | Last():
            return ()
        case _:
            return (expression.nodes,)


def with_parts(expression: Expression, parts: Sequence[Any]) -> Expression:
    """Return an expression made of other parts, as many as :func:`parts_of` gives."""
    match expression:
        case Step():
            return replace(expression, base=parts[0], predicates=tuple(parts[1:]))
        case Filter():
            return Filter(parts[0], tuple(parts[1:]))
        case Union() | All() | Some():
            return type(expression)(tuple(parts))
        case Identified() | Inverse():
            return type(expression)(parts[0])
        case Apply(function=function):
            return Apply(function, tuple(parts))
        case SomeCompare(operator=operator) | PairCompare(operator=operator):
            return type(expression)(operator, parts[0], parts[1])
        case Above(test=test):
            return Above(test, parts[0], parts[1])
        case Slot() | Here() | Root() | Position() | Last():
            return expression
        case _:
            return replace(expression, nodes=parts[0])


def own_parts(expression: Expression) -> Iterator[Expression]:
    """Yield an expression and all its parts that are evaluated at its own context node.

    Predicates inside it are left out: they have context nodes of their own, as has what is
    evaluated at the parent.
    """
    waiting: list[Expression] = [expression]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case Step(base=base) | Filter(base=base):
                waiting.append(base)
            case Above():
                pass
            case _:
                waiting += parts_of(part)


def replace_own_parts(part: Expression, change: Callable[[Expression], Expression | None]) -> Any:
    """Return an expression with some of its own parts changed, the outermost first.

    ``change`` returns what to put in the place of a part, or None to go on inside it.
    """
    changed = change(part)
    if changed is not None:
        return changed
    match part:
        case Step(base=base) | Filter(base=base):
            return replace(part, base=replace_own_parts(base, change))
        case Above():
            return part
        case _:
            return with_parts(part, [replace_own_parts(one, change) for one in parts_of(part)])


def is_positional(atom: Atom) -> bool:
    """Return whether an atom asks for the position of its own context node, or for the last."""
    return any(isinstance(part, Position | Last) for part in own_parts(atom))


def add_step(base: Nodes, axis: Axis, test: NodeTest, predicates: tuple[Atom, ...] = ()) -> Step:
    """Return a step from the nodes of ``base``, in one with a ``//`` that they end with.

    ``//a`` is one step; ``//a[1]`` counts the children of each node, and is two.
    """
    match base:
        case Step(axis=Axis.DESCENDANT_OR_SELF, predicates=()) if (
            base.test == ANY_NODE and axis in BELOW and not any(map(is_positional, predicates))
        ):
            return Step(base.base, BELOW[axis], test, predicates)
    return Step(base, axis, test, predicates)
