"""Expressions taken apart and put together again, whatever they are made of."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from operator import is_
from typing import Any, TypeVar, get_args

from penstock.twigs.expressions import Atom, Branch, Call, Compare, Expression, is_condition

Part = Expression | Branch
P = TypeVar("P", bound=Part)
Changes = Mapping[Any, Callable[[Any], Any]]
"""What becomes of the parts of a kind."""

_HOLDS_PARTS = re.compile(r"\b(TwigNode|Branch|Condition|Nodes|Atom|Slot)\b")


def _take_and_make(kind: type) -> tuple[Callable[..., tuple[Any, ...]], Callable[..., Any]]:
    """Return how a kind is taken apart and put together, by the types of its fields.

    The functions are written out, as those of a dataclass are: every rewrite calls them.
    """
    taken: list[str] = []
    made: list[str] = []
    for field in fields(kind):
        value, written, place = f"part.{field.name}", str(field.type), len(taken)
        if not _HOLDS_PARTS.search(written):
            made.append(value)
        elif written.startswith("tuple"):
            taken.append(f"*{value}")
            made.append(f"parts[{place}:]")
        else:
            taken.append(f"*filter(None, [{value}])" if written.endswith("None") else value)
            made.append(f"parts[{place}]")
    names = {kind.__name__: kind}
    take = eval(f"lambda part: ({''.join(f'{value}, ' for value in taken)})")
    return take, eval(f"lambda part, parts: {kind.__name__}({', '.join(made)})", names)


_FUNCTIONS = {kind: _take_and_make(kind) for kind in get_args(Part)}
_TAKE = {kind: take for kind, (take, _) in _FUNCTIONS.items()}


def parts_of(part: Part) -> tuple[Any, ...]:
    """Return what a part is made of, in the order of the printed form."""
    return _TAKE[type(part)](part)


def with_parts(part: P, parts: Iterable[Part]) -> P:
    """Return a part made of others, as many as :func:`parts_of` gives, and at least one."""
    made: P = _FUNCTIONS[type(part)][1](part, tuple(parts))
    return made


def map_parts(part: P, change: Callable[[Any], Any]) -> P:
    """Return a part with each of its own parts changed; the same object where none is."""
    parts = parts_of(part)
    changed = [change(inner) for inner in parts]
    return part if all(map(is_, changed, parts)) else with_parts(part, changed)


def all_parts(*parts: Part) -> Iterator[Any]:
    """Yield parts and everything inside them, from the top down, in the order of the text."""
    waiting = [*reversed(parts)]
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(parts_of(part))


def rewrite(part: Part, changes: Changes) -> Any:
    """Return a part rewritten from the leaves up; the same object where nothing changed.

    A part of a kind in ``changes`` is replaced by what that function makes of it, once its own
    parts are rewritten, in the order of the printed form. The call stack stays flat.
    """
    olds: list[tuple[Part, tuple[Part, ...], Callable[[Any], Any] | None]] = []
    waiting: list[Part] = [part]
    while waiting:
        old = waiting.pop()
        kind = type(old)
        parts = _TAKE[kind](old)
        olds.append((old, parts, changes.get(kind)))
        waiting += parts
    news: list[Any] = []  # None for what stays
    for old, parts, change in reversed(olds):
        new: Any = old
        if parts:
            inner = news[-len(parts) :]
            del news[-len(parts) :]
            if any(inner):
                pairs = zip(inner, parts, strict=True)
                new = with_parts(old, [changed or same for changed, same in pairs])
        if change is not None:
            changed = change(new)
            if changed is not new:
                # Parts that did not change are the same objects, which makes this short.
                new = old if changed == old else changed
        news.append(None if new is old else new)
    return news[0] or part


def leaves(part: Compare | Call) -> Iterator[Atom]:
    """Yield what the calls in a comparison or in a call are made of; a condition is one thing."""
    for inner in parts_of(part):
        if _is_computed(inner):
            yield from leaves(inner)
        else:
            yield inner


def map_leaves(part: P, change: Callable[[Atom], Atom]) -> P:
    """Return a comparison or a call with what its calls are made of changed."""
    return map_parts(
        part,
        lambda inner: map_leaves(inner, change) if _is_computed(inner) else change(inner),
    )


def _is_computed(atom: Atom) -> bool:
    return isinstance(atom, Call) and not is_condition(atom)
