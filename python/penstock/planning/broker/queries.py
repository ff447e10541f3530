"""What the broker is asked: plain data, whatever query it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.twigs.nodetests import Axis, NodeTest

NODE = "#node"
"""The variable of the bound node. No query can have that name."""

SET = "#set"
"""The variable of all bound nodes that are left, in document order."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step to elements: child or descendant."""

    axis: Axis
    test: NodeTest


@dataclass(frozen=True, slots=True)
class Path:
    """Steps from the bound node, and what is looked at there.

    ``field`` is the test of an attribute or a text node; None is the element itself.
    """

    steps: tuple[Step, ...]
    field: NodeTest | None = None


@dataclass(frozen=True, slots=True)
class Compare:
    """``path operator constant``; ``is_number`` says what values are compared as."""

    path: Path
    operator: str
    constant: str
    is_number: bool


@dataclass(frozen=True, slots=True)
class Exists:
    """A path leads somewhere."""

    path: Path


@dataclass(frozen=True, slots=True)
class All:
    """Every part holds; none at all is always true."""

    parts: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Some:
    """One part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """The part does not hold."""

    part: Condition


Condition = Compare | Exists | All | Some | Negated


@dataclass(frozen=True, slots=True)
class BindingStep:
    """A step of the binding path, and what holds at its elements."""

    step: Step
    condition: Condition = All()


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters of a constructor."""

    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """An expression over ``Variable(NODE)``, or over ``Variable(SET)``, evaluated once for each.

    In an attribute it gives characters, elsewhere content. A piece that is a mere path to elements
    has its steps.
    """

    expression: Any
    steps: tuple[Step, ...] | None = None


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute with a constant name."""

    name: str
    value: tuple[Characters | Piece, ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """Where the content of the bound nodes goes: once for each, or once for all of them."""

    content: tuple[Content, ...]
    is_set: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """An element with a constant name."""

    name: str
    attributes: tuple[Attribute, ...]
    content: tuple[Content, ...]


Content = Characters | Piece | Loop | Element


@dataclass(frozen=True, slots=True)
class Brokered:
    """A query for the broker. The message has one loop in it."""

    binding: tuple[BindingStep, ...]
    condition: Condition
    message: Element
    is_lenient: bool
    """Whether text that is no number compares with no number, instead of being an error."""
