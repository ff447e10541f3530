"""The join graph: how the blocks of a query meet."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class JoinKind(Enum):
    """The operators of XSCL; MEET is XQuery's join, which knows no time."""

    JOIN = "JOIN"
    FOLLOWED_BY = "FOLLOWED BY"
    NOT_FOLLOWED_BY = "NOT FOLLOWED BY"
    MEET = "MEET"


@dataclass(frozen=True, slots=True)
class Inequality:
    """``left operator right`` between the values of two variables, beside an equality."""

    left: str
    operator: str
    right: str


@dataclass(frozen=True, slots=True)
class Join:
    """Joins everything before block ``right`` with that block; operators associate to the left.

    ``equalities`` are pairs (variable on the left, variable on the right) with equal string
    values; at least one. ``window_seconds`` None is an infinite window.
    """

    kind: JoinKind
    right: int
    equalities: tuple[tuple[str, str], ...]
    window_seconds: float | None = None
    inequalities: tuple[Inequality, ...] = ()
