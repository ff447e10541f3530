"""Expressions over sequences taken apart, whatever they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any, get_args

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import ANY_NODE, Axis

_INNER = (
    q.For,
    q.Let,
    q.Where,
    q.OrderBy,
    q.OrderKey,
    q.Case,
)
"""Parts that are no expressions, but have some inside."""

_ITEMS = (
    x.Here,
    x.Root,
    x.Step,
    x.Filter,
    x.Union,
    x.Call,
    x.And,
    x.Or,
    x.Position,
    x.Last,
    *get_args(q.Expression),
)

_FIELDS = {kind: tuple(field.name for field in fields(kind)) for kind in (*_ITEMS, *_INNER)}


def parts_of(item: q.Item) -> list[Any]:
    """Return the expressions that an expression is made of, in the order of the printed form.

    Clauses, keys and cases are taken apart as well.
    """
    parts: list[Any] = []
    waiting = [getattr(item, name) for name in reversed(_FIELDS[type(item)])]
    while waiting:
        value = waiting.pop()
        if type(value) is tuple:
            waiting += reversed(value)
        elif type(value) in _INNER:
            waiting += [getattr(value, name) for name in reversed(_FIELDS[type(value)])]
        elif type(value) in _FIELDS:
            parts.append(value)
    return parts


def all_parts(*items: q.Item) -> Iterator[Any]:
    """Yield expressions and everything inside them, from the top down."""
    waiting = [*reversed(items)]
    while waiting:
        item = waiting.pop()
        yield item
        waiting += reversed(parts_of(item))


def roots_of(output: q.Sequences) -> list[Any]:
    """Return the expressions of a query that lie in no other one."""
    values = [variable.value for variable in output.variables]
    return [*values, *(function.body for function in output.functions), output.body]


def depth_of(output: q.Sequences) -> int:
    """Return the levels of expressions inside each other; ``//`` is no level of its own."""
    deepest = 0
    waiting = [(root, 1) for root in roots_of(output)]
    while waiting:
        item, level = waiting.pop()
        deepest = max(deepest, level)
        is_free = (
            isinstance(item, x.Step)
            and item.axis is Axis.DESCENDANT_OR_SELF
            and item.test == ANY_NODE
        )
        waiting += [(part, level + (not is_free)) for part in parts_of(item)]
    return deepest
