"""The join graph: how the blocks of a query meet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from penstock.twigs.expressions import TwigNode


class JoinKind(Enum):
    """The operators of XSCL; MEET is XQuery's join, which knows no time."""

    JOIN = "JOIN"
    FOLLOWED_BY = "FOLLOWED BY"
    NOT_FOLLOWED_BY = "NOT FOLLOWED BY"
    MEET = "MEET"


@dataclass(frozen=True, slots=True)
class Comparison:
    """``left operator right`` between the string values of two variables, by XPath 1.0."""

    left: str
    operator: str
    right: str


@dataclass(frozen=True, slots=True)
class Operand:
    """The nodes that ``path`` reaches from the node of a variable; without a path, that node.

    The nodes of the path have one branch at most.
    """

    variable: str
    path: TwigNode | None = None


@dataclass(frozen=True, slots=True)
class PathTerm:
    """``left operator right`` for some nodes of the operands: a term as it is written.

    Value-join normal form has no such terms: they become equalities and inequalities of joins,
    and filters of blocks.
    """

    left: Operand
    operator: str
    right: Operand


@dataclass(frozen=True, slots=True)
class Join:
    """Joins everything before block ``right`` with that block; operators associate to the left.

    ``equalities`` are pairs (variable on the left, variable on the right) with equal string
    values; at least one once the query is in value-join normal form. ``window_seconds`` None is
    an infinite window. ``terms`` have to hold as well; one that does not mention block ``right``
    filters what is before it.
    """

    kind: JoinKind
    right: int
    equalities: tuple[tuple[str, str], ...]
    window_seconds: float | None = None
    inequalities: tuple[Comparison, ...] = ()
    terms: tuple[PathTerm, ...] = ()
