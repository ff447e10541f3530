"""Which predicates ask for the position of the node under test."""

from __future__ import annotations

from penstock.twigs.expressions import (
    All,
    Apply,
    Atom,
    Count,
    Filter,
    FirstName,
    FirstString,
    Identified,
    Inverse,
    JoinedStrings,
    Last,
    Nodes,
    NonEmpty,
    PairCompare,
    Position,
    Some,
    SomeCompare,
    Step,
    Sum,
    Union,
)


def is_positional(atom: Atom) -> bool:
    """Return whether an atom depends on the position or the last position of its context.

    Predicates inside it have contexts of their own.
    """
    match atom:
        case Position() | Last():
            return True
        case Apply(arguments=parts) | All(parts) | Some(parts):
            return any(map(is_positional, parts))
        case Inverse(part):
            return is_positional(part)
        case SomeCompare(nodes=nodes, value=value):
            return is_positional(value) or _has_positional_base(nodes)
        case PairCompare(left=left, right=right):
            return _has_positional_base(left) or _has_positional_base(right)
        case (
            NonEmpty(nodes)
            | Count(nodes)
            | Sum(nodes)
            | FirstString(nodes)
            | FirstName(nodes=nodes)
            | JoinedStrings(nodes)
        ):
            return _has_positional_base(nodes)
        case _:
            return False


def _has_positional_base(nodes: Nodes) -> bool:
    match nodes:
        case Step(base) | Filter(base):
            return _has_positional_base(base)
        case Union(parts):
            return any(map(_has_positional_base, parts))
        case Identified(words):
            return is_positional(words)
        case _:
            return False
