"""Expressions over sequences taken apart and put together again, whatever they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q

Change = Callable[[Any], Any]

_PART_MODULES = (x.__name__, q.__name__)
_NO_PARTS = (q.Name, q.SequenceType, q.ItemType)


def parts_of(part: Any) -> Iterator[Any]:
    """Yield what a part is made of: expressions, clauses, keys and cases, in their order."""
    for name in _fields(type(part)):
        value = getattr(part, name)
        if isinstance(value, tuple):
            yield from filter(_is_part, value)
        elif _is_part(value):
            yield value


def all_parts(part: Any) -> Iterator[Any]:
    """Yield a part and everything inside it, from the top down."""
    waiting = [part]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += reversed([*parts_of(inner)])


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


_FIELDS: dict[type, tuple[str, ...]] = {}


def _fields(kind: type) -> tuple[str, ...]:
    names = _FIELDS.get(kind)
    if names is None:
        names = _FIELDS[kind] = tuple([field.name for field in fields(kind)])
    return names


def _is_part(value: Any) -> bool:
    return type(value).__module__ in _PART_MODULES and not isinstance(value, _NO_PARTS)
