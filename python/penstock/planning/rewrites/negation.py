"""Negation moves inwards until it meets something that only a document decides.

Afterwards ``Not`` stands directly above ``Exists``, ``Compare`` or ``Call`` and nowhere else.
On atomic values ``not(a = b)`` is ``a != b``, for NaN too; ``not(a < b)`` is not ``a >= b``.
"""

from __future__ import annotations

from penstock.planning.traversal import rewrite_query
from penstock.twigs import And, AtRoot, Compare, Condition, Not, Or, Query
from penstock.twigs.logic import conjunction, disjunction, negation

_OPPOSITE = {"=": "!=", "!=": "="}


def push_negation(query: Query) -> Query:
    """Return the query in negation normal form."""
    return rewrite_query(query, {Not: lambda negated: _opposite(negated.part)})


def _opposite(condition: Condition) -> Condition:
    match condition:
        case And(parts=parts):
            return disjunction(*[_opposite(part) for part in parts])
        case Or(parts=parts):
            return conjunction(*[_opposite(part) for part in parts])
        case AtRoot(part=part):
            return AtRoot(_opposite(part))
        case Compare(operator=operator, left=left, right=right) if operator in _OPPOSITE:
            return Compare(_OPPOSITE[operator], left, right)
        case _:
            return negation(condition)
