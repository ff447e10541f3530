"""Comparisons in a predicate: a path on one side, a constant on the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.engine.diagnosis.stages import Wording
from penstock.languages.xpath import syntax as s

_SEARCHES = ("contains", "starts-with")
_WRAPPERS = ("string", "normalize-space", "number", "translate")


@dataclass(frozen=True, slots=True)
class Term:
    """A condition by its text; with a path and a constant, if it compares these."""

    text: str
    path: str | None = None
    constant: str | None = None
    is_order: bool = False
    """Whether it compares with an order, such as ``<``, and not for equality."""
    is_plain: bool = False
    """Whether the path itself equals the constant, without a function around it."""


def terms_of(predicate: s.Expression, wording: Wording) -> list[Term]:
    """Return the conditions that a predicate joins with ``and`` and ``or``."""
    return [_term(part, wording) for part in _parts(predicate)]


def joined_path(before: str, path: str) -> str:
    """Return a path that goes on from another one; an absolute one starts anew."""
    return path if path.startswith("/") else f"{before}/{path}"


def _parts(expression: Any) -> Iterator[Any]:
    if isinstance(expression, s.Logical):
        for part in expression.parts:
            yield from _parts(part)
    else:
        yield expression


def _term(expression: Any, wording: Wording) -> Term:
    text = wording.source(expression)
    match expression:
        case s.Binary(operator=operator, left=left, right=right) if operator in s.COMPARISONS:
            is_order = operator not in ("=", "!=")
            for path, constant in ((left, right), (right, left)):
                if (found := _compared(path, constant, wording)) is not None:
                    is_plain = operator == "=" and isinstance(path, s.Path)
                    return Term(text, *found, is_order, is_plain)
        case s.FunctionCall(name=name, arguments=(path, constant)) if name in _SEARCHES:
            if (found := _compared(path, constant, wording)) is not None:
                return Term(text, *found)
        case s.Path():
            return Term(text, text)
    return Term(text)


def _compared(path: Any, constant: Any, wording: Wording) -> tuple[str, str] | None:
    while isinstance(path, s.FunctionCall) and path.name in _WRAPPERS:
        if not path.arguments:
            return None
        path = path.arguments[0]
    value = _value(constant, wording)
    return None if value is None or not isinstance(path, s.Path) else (wording.source(path), value)


def _value(constant: Any, wording: Wording) -> str | None:
    match constant:
        case s.Literal(value=value):
            return value
        case s.Number() | s.Negate(operand=s.Number()):
            return wording.source(constant)
        case s.Variable(name=name):
            value = wording.options.get("variables", {}).get(name)
            return None if value is None else str(value)
    return None
