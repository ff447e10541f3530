"""Twig nodes, the conditions that guard them and the scalars that conditions compare.

The three refer to each other, hence one module. All are evaluated at a context node: a condition
of a twig node at the node it matched, a scalar inside a condition at the same node.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from penstock.twigs.nodetests import Axis, NodeTest


class ValueType(Enum):
    """The atomic types of XPath 1.0."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class TwigNode:
    """One node of a tree pattern: reached by ``axis`` from its parent, tested, guarded.

    ``variable`` marks an output. ``branches`` are sub-twigs that carry variables; a sub-twig
    without variables is a condition (``Exists``), not a branch.
    """

    axis: Axis
    test: NodeTest
    where: Condition = None  # type: ignore[assignment]  # TRUE, set below: the types are recursive
    variable: str | None = None
    branches: tuple[Branch, ...] = ()

    def __post_init__(self) -> None:
        if self.where is None:
            object.__setattr__(self, "where", TRUE)


@dataclass(frozen=True, slots=True)
class Branch:
    """A sub-twig below a node.

    A required branch must match for its parent to count (a path of XPath, a ``for``, a bound
    path of XSCL); an optional one may be empty (``let``, a path in ``return``).
    """

    node: TwigNode
    optional: bool = False


def nodes_of(twig: TwigNode) -> Iterator[TwigNode]:
    """Yield the nodes of a twig from the top down, branch after branch."""
    yield twig
    for branch in twig.branches:
        yield from nodes_of(branch.node)


def variables_of(twig: TwigNode) -> Iterator[str]:
    """Yield the variables of a twig from the top down."""
    for node in nodes_of(twig):
        if node.variable is not None:
            yield node.variable


@dataclass(frozen=True, slots=True)
class Constant:
    """Always true or always false."""

    value: bool


TRUE = Constant(True)
FALSE = Constant(False)


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold. At least two parts."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Some part holds. At least two parts."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """The part does not hold."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Exists:
    """Some node matches the sub-twig, seen from the context node.

    ``a/b = 'x'`` is ``Exists(a, where Exists(b, where Compare('=', StringOf(), slot)))``:
    comparisons of node-sets are existential, so they live at the node whose value they need.
    """

    node: TwigNode


@dataclass(frozen=True, slots=True)
class AtRoot:
    """The condition holds at the document node: an absolute path inside a predicate."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Compare:
    """``left operator right`` on atomic values by the rules of XPath 1.0, section 3.4.

    For ``=`` and ``!=``: booleans if either is one, else numbers if either is one, else strings.
    For ``<``, ``<=``, ``>``, ``>=``: numbers.
    """

    operator: str
    left: Scalar
    right: Scalar


@dataclass(frozen=True, slots=True)
class Holds:
    """``boolean(scalar)``: a non-empty string, a number other than zero and NaN, a true boolean."""

    scalar: Scalar


Condition = Constant | And | Or | Not | Exists | AtRoot | Compare | Holds


@dataclass(frozen=True, slots=True)
class Slot:
    """A constant: ``constants[index]`` of the query."""

    index: int
    type: ValueType


@dataclass(frozen=True, slots=True)
class StringOf:
    """The string value of the first node, in document order, that ``node`` reaches.

    Without ``node``: of the context node. Empty where nothing is reached. ``absolute`` starts at
    the document node.
    """

    node: TwigNode | None = None
    absolute: bool = False


@dataclass(frozen=True, slots=True)
class NameOf:
    """``name()``, ``local-name()`` or ``namespace-uri()`` of the context or of the first node.

    ``part`` is one of ``name``, ``local-name``, ``namespace-uri``.
    """

    part: str
    node: TwigNode | None = None
    absolute: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A function or arithmetic operator on atomic values, by its name in XPath 1.0.

    Arguments have the types that the function asks for: conversions are calls of ``string`` and
    ``number`` of their own.
    """

    function: str
    arguments: tuple[Scalar, ...]


@dataclass(frozen=True, slots=True)
class BooleanOf:
    """A condition used as a value."""

    condition: Condition


Scalar = Slot | StringOf | NameOf | Call | BooleanOf

_TYPES_OF_CALLS = {
    ValueType.STRING: (
        "string concat substring substring-before substring-after normalize-space translate"
    ).split(),
    ValueType.NUMBER: ("number string-length floor ceiling round + - * div mod negate").split(),
    ValueType.BOOLEAN: "boolean contains starts-with = != < <= > >=".split(),
}
TYPE_OF_CALL = {name: kind for kind, names in _TYPES_OF_CALLS.items() for name in names}
"""What the functions and operators on atomic values evaluate to."""


def type_of(scalar: Scalar) -> ValueType:
    """Return the type that the scalar evaluates to."""
    match scalar:
        case Slot(type=kind):
            return kind
        case Call(function=function):
            return TYPE_OF_CALL[function]
        case BooleanOf():
            return ValueType.BOOLEAN
        case _:
            return ValueType.STRING
