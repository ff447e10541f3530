"""Building conditions without parts that change nothing."""

from __future__ import annotations

from penstock.twigs.patterns import (
    FALSE,
    TRUE,
    And,
    Condition,
    Constant,
    Exists,
    Not,
    Or,
    TwigNode,
)

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator that says the same with its sides exchanged."""


def conjunction(*parts: Condition) -> Condition:
    """Return the ``And`` of the parts: flat, without what is true, false where a part is."""
    return _join(And, TRUE, FALSE, parts)


def disjunction(*parts: Condition) -> Condition:
    """Return the ``Or`` of the parts: flat, without what is false, true where a part is."""
    return _join(Or, FALSE, TRUE, parts)


def negation(part: Condition) -> Condition:
    """Return the ``Not`` of a part; of a ``Not`` or a constant, what it stands for."""
    match part:
        case Not(part=inner):
            return inner
        case Constant(value=value):
            return FALSE if value else TRUE
        case _:
            return Not(part)


def existence(twig: TwigNode) -> Exists:
    """Return the condition that some node matches the twig, its variables forgotten."""
    below = [existence(branch.node) for branch in twig.branches if not branch.optional]
    return Exists(TwigNode(twig.axis, twig.test, conjunction(twig.where, *below)))


def conjuncts(condition: Condition) -> tuple[Condition, ...]:
    """Return the parts that must all hold for the condition to hold; none for TRUE."""
    if isinstance(condition, And):
        return condition.parts
    return () if condition == TRUE else (condition,)


def _join(
    kind: type[And] | type[Or],
    neutral: Condition,
    absorbing: Condition,
    parts: tuple[Condition, ...],
) -> Condition:
    flat: list[Condition] = []
    for part in parts:
        if part == absorbing:
            return absorbing
        if isinstance(part, kind):
            flat += part.parts
        elif part != neutral:
            flat.append(part)
    if not flat:
        return neutral
    return flat[0] if len(flat) == 1 else kind(tuple(flat))
