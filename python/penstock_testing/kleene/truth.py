"""Three-valued truth: ``True``, ``False``, or ``None`` for what is not known yet."""

from __future__ import annotations

from collections.abc import Iterable

Truth = bool | None


def all_of(truths: Iterable[Truth]) -> Truth:
    """Return the conjunction."""
    unknown = False
    for truth in truths:
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def any_of(truths: Iterable[Truth]) -> Truth:
    """Return the disjunction."""
    return inverse(all_of(map(inverse, truths)))


def inverse(truth: Truth) -> Truth:
    """Return the negation."""
    return None if truth is None else not truth
