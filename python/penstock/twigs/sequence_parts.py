"""Expressions over sequences taken apart and put together again, whatever they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import ANY_NODE, Axis

Change = Callable[[Any], Any]

_PART_MODULES = (x.__name__, q.__name__)
_NO_PARTS = (q.Name, q.SequenceType, q.ItemType)
_INNER = (q.For, q.Let, q.Where, q.OrderBy, q.OrderKey, q.Case)
"""Parts that are no expressions, but have some inside."""
_FIELDS: dict[type, tuple[str, ...]] = {}


def parts_of(part: Any) -> list[Any]:
    """Return what a part is made of, in the order of the printed form.

    Parts are expressions and what belongs to one: clauses, keys and cases.
    """
    parts: list[Any] = []
    for name in _fields(type(part)):
        value = getattr(part, name)
        if isinstance(value, tuple):
            parts += filter(_is_part, value)
        elif _is_part(value):
            parts.append(value)
    return parts


def all_parts(*parts: Any) -> Iterator[Any]:
    """Yield parts and everything inside them, from the top down."""
    waiting = [*reversed(parts)]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(parts_of(part))


def map_parts(part: Any, change: Change) -> Any:
    """Return a part with each of its own parts changed; the same object where none is."""
    changes = {}
    for name in _fields(type(part)):
        value = getattr(part, name)
        if isinstance(value, tuple):
            changed: Any = tuple([change(one) if _is_part(one) else one for one in value])
            if any(new is not old for new, old in zip(changed, value, strict=True)):
                changes[name] = changed
        elif _is_part(value):
            changed = change(value)
            if changed is not value:
                changes[name] = changed
    return replace(part, **changes) if changes else part


def rewrite(part: Any, change: Change) -> Any:
    """Return a part rewritten from the leaves up."""
    return change(map_parts(part, lambda inner: rewrite(inner, change)))


def substitute(part: Any, values: dict[str, Any]) -> Any:
    """Return a part with variables replaced; names are unique, so nothing is captured."""

    def change(inner: Any) -> Any:
        if isinstance(inner, q.Variable):
            return values.get(inner.name, inner)
        return inner

    return rewrite(part, change)


def roots_of(output: q.Sequences) -> list[Any]:
    """Return the expressions of a query that lie in no other one."""
    values = [variable.value for variable in output.variables]
    return [*values, *(function.body for function in output.functions), output.body]


def map_roots(output: q.Sequences, change: Change) -> q.Sequences:
    """Return a query with its body, the bodies of its functions and its variables changed."""
    return replace(
        output,
        body=change(output.body),
        functions=tuple([replace(one, body=change(one.body)) for one in output.functions]),
        variables=tuple([replace(one, value=change(one.value)) for one in output.variables]),
    )


def depth_of(output: q.Sequences) -> int:
    """Return the levels of expressions inside each other; ``//`` is no level of its own."""
    deepest = 0
    waiting = [(root, 1) for root in roots_of(output)]
    while waiting:
        part, level = waiting.pop()
        deepest = max(deepest, level)
        is_free = isinstance(part, _INNER) or (
            isinstance(part, x.Step)
            and part.axis is Axis.DESCENDANT_OR_SELF
            and part.test == ANY_NODE
        )
        waiting += [(inner, level + (not is_free)) for inner in parts_of(part)]
    return deepest


def _fields(kind: type) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple([field.name for field in fields(kind)])
    return names


def _is_part(value: Any) -> bool:
    return type(value).__module__ in _PART_MODULES and not isinstance(value, _NO_PARTS)
