"""The syntax tree of XPath 1.0, abbreviations expanded, every node with its span.

Spans are half-open ranges of characters and do not take part in comparisons: two expressions
are equal if they say the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from penstock.twigs import Axis

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class NameTest:
    """``name``, ``prefix:name``, ``prefix:*`` or ``*``; None stands for ``*``."""

    prefix: str | None
    local: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class KindTest:
    """``node()``, ``text()``, ``comment()`` or ``processing-instruction('target')``."""

    kind: str
    target: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One location step; ``span`` covers the predicates, ``axis_span`` only the axis as written."""

    axis: Axis
    test: NameTest | KindTest
    predicates: tuple[Expression, ...]
    span: Span = field(compare=False)
    axis_span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """A location path; with ``start`` it goes on from the nodes of that expression."""

    absolute: bool
    steps: tuple[Step, ...]
    span: Span = field(compare=False)
    start: Expression | None = None


@dataclass(frozen=True, slots=True)
class Filter:
    """A parenthesised or primary expression with predicates."""

    primary: Expression
    predicates: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Union:
    """``a | b | …``, at least two parts."""

    parts: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Logical:
    """``a or b or …`` or ``a and b and …``, at least two parts."""

    operator: str
    parts: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """A comparison or an arithmetic operation."""

    operator: str
    left: Expression
    right: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Negate:
    """Unary minus."""

    operand: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Literal:
    """A string."""

    value: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: float
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """``$name``."""

    name: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """``name(arguments)``; ``name_span`` covers the name only."""

    name: str
    arguments: tuple[Expression, ...]
    span: Span = field(compare=False)
    name_span: Span = field(compare=False)


Expression = (
    Path | Filter | Union | Logical | Binary | Negate | Literal | Number | Variable | FunctionCall
)

_HOLDS_NODES = re.compile("Expression|Step|Test")
_INNER = {
    kind: [field.name for field in fields(kind) if _HOLDS_NODES.search(str(field.type))]
    for kind in (*get_args(Expression), Step, NameTest, KindTest)
}
"""The fields of each kind of nodes that hold others."""


def nodes_in(tree: object) -> Iterator[Any]:
    """Yield the expressions, steps and tests of a syntax tree."""
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if type(part) is tuple:
            waiting += part
        elif part is not None:
            yield part
            waiting += [getattr(part, name) for name in _INNER[type(part)]]


COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
ARITHMETIC = ("+", "-", "*", "div", "mod")
