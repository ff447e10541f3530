"""Building conditions without parts that change nothing."""

from __future__ import annotations

from penstock.twigs import expressions as x

FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
"""The operator that says the same with its sides exchanged."""


def conjunction(*parts: x.Condition) -> x.Condition:
    """Return the ``And`` of the parts: flat, without what is true, false where a part is."""
    return _join(x.And, x.TRUE, x.FALSE, parts)


def disjunction(*parts: x.Condition) -> x.Condition:
    """Return the ``Or`` of the parts: flat, without what is false, true where a part is."""
    return _join(x.Or, x.FALSE, x.TRUE, parts)


def negation(part: x.Condition) -> x.Condition:
    """Return the ``Not`` of a part; of a ``Not`` or a constant, what it stands for."""
    match part:
        case x.Not(part=inner):
            return inner
        case x.Constant(value=value):
            return x.FALSE if value else x.TRUE
        case _:
            return x.Not(part)


def simplified(condition: x.Condition) -> x.Condition:
    """Return a connective as the functions above build it; any other condition as it is."""
    match condition:
        case x.And(parts=parts):
            return conjunction(*parts)
        case x.Or(parts=parts):
            return disjunction(*parts)
        case x.Not(part=part):
            return negation(part)
        case _:
            return condition


def existence(twig: x.TwigNode) -> x.Exists:
    """Return the condition that some node matches the twig, its variables forgotten."""
    below = [existence(branch.node) for branch in twig.branches if not branch.optional]
    return x.Exists(x.TwigNode(twig.axis, twig.test, conjunction(twig.where, *below)))


def conjuncts(condition: x.Condition) -> tuple[x.Condition, ...]:
    """Return the parts that must all hold for the condition to hold; none for TRUE."""
    if isinstance(condition, x.And):
        return condition.parts
    return () if condition == x.TRUE else (condition,)


def _join(
    kind: type[x.And] | type[x.Or],
    neutral: x.Condition,
    absorbing: x.Condition,
    parts: tuple[x.Condition, ...],
) -> x.Condition:
    flat: list[x.Condition] = []
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
