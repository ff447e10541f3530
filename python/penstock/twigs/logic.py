"""Building conditions without parts that change nothing."""

from __future__ import annotations

from penstock.twigs import patterns as t

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator that says the same with its sides exchanged."""


def conjunction(*parts: t.Condition) -> t.Condition:
    """Return the ``And`` of the parts: flat, without what is true, false where a part is."""
    return _join(t.And, t.TRUE, t.FALSE, parts)


def disjunction(*parts: t.Condition) -> t.Condition:
    """Return the ``Or`` of the parts: flat, without what is false, true where a part is."""
    return _join(t.Or, t.FALSE, t.TRUE, parts)


def negation(part: t.Condition) -> t.Condition:
    """Return the ``Not`` of a part; of a ``Not`` or a constant, what it stands for."""
    match part:
        case t.Not(part=inner):
            return inner
        case t.Constant(value=value):
            return t.FALSE if value else t.TRUE
        case _:
            return t.Not(part)


def simplified(condition: t.Condition) -> t.Condition:
    """Return a connective as the functions above build it; any other condition as it is."""
    match condition:
        case t.And(parts=parts):
            return conjunction(*parts)
        case t.Or(parts=parts):
            return disjunction(*parts)
        case t.Not(part=part):
            return negation(part)
        case _:
            return condition


def existence(twig: t.TwigNode) -> t.Exists:
    """Return the condition that some node matches the twig, its variables forgotten."""
    below = [existence(branch.node) for branch in twig.branches if not branch.optional]
    return t.Exists(t.TwigNode(twig.axis, twig.test, conjunction(twig.where, *below)))


def conjuncts(condition: t.Condition) -> tuple[t.Condition, ...]:
    """Return the parts that must all hold for the condition to hold; none for TRUE."""
    if isinstance(condition, t.And):
        return condition.parts
    return () if condition == t.TRUE else (condition,)


def _join(
    kind: type[t.And] | type[t.Or],
    neutral: t.Condition,
    absorbing: t.Condition,
    parts: tuple[t.Condition, ...],
) -> t.Condition:
    flat: list[t.Condition] = []
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
