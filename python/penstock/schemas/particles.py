"""Content models as trees, and how often each child occurs in what they allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from penstock.schemas.graph import Name, Occurs

_NONE = (0, 0)
_MANY = 2


@dataclass(frozen=True, slots=True)
class Particle:
    """A part of a content model: a name, a sequence or a choice, and how often it occurs.

    ``least`` and ``most`` are 0, 1 or 2, which stands for any number above 1.
    """

    kind: Literal["name", "sequence", "choice"]
    least: int = 1
    most: int = 1
    name: Name | None = None
    parts: tuple[Particle, ...] = ()


def occurrences(particle: Particle) -> dict[Name, Occurs]:
    """Return how often each name occurs in what a content model allows."""
    counted: dict[int, dict[Name, tuple[int, int]]] = {}
    waiting = [(particle, False)]
    while waiting:
        part, is_ready = waiting.pop()
        if not is_ready:
            waiting.append((part, True))
            waiting += [(inner, False) for inner in part.parts]
        else:
            counted[id(part)] = _count(part, [counted[id(inner)] for inner in part.parts])
    return {
        name: Occurs(least > 0, most < _MANY)
        for name, (least, most) in counted[id(particle)].items()
        if most
    }


def _count(part: Particle, inner: list[dict[Name, tuple[int, int]]]) -> dict[Name, tuple[int, int]]:
    if part.name is not None:
        once = {part.name: (1, 1)}
    else:
        combine = _sum if part.kind == "sequence" else _either
        names = dict.fromkeys(name for counts in inner for name in counts)
        once = {name: combine([counts.get(name, _NONE) for counts in inner]) for name in names}
    return {
        name: (min(_MANY, least * part.least), min(_MANY, most * part.most))
        for name, (least, most) in once.items()
    }


def _sum(counts: list[tuple[int, int]]) -> tuple[int, int]:
    return min(_MANY, sum(c[0] for c in counts)), min(_MANY, sum(c[1] for c in counts))


def _either(counts: list[tuple[int, int]]) -> tuple[int, int]:
    return min(c[0] for c in counts), max(c[1] for c in counts)
