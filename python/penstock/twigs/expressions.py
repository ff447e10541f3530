"""The nodes of the one expression tree that queries of all languages are lowered to.

An expression is a set of nodes or an *atom*, a value computed from such sets; all are evaluated at
a context node. The context of a whole query is the document node; inside a predicate it is the
node under test. An atom that is a truth value is a *condition*.

Everything is explicit: conversions are calls of ``string``, ``number`` and ``boolean``, a
predicate that is a number is a comparison with ``Position``, and a function without an argument
has ``Here``. Arguments have the types that their function asks for.

A twig is a sub-form: a tree pattern of ``TwigNode``, whose sets of nodes are twigs themselves and
whose atoms are those that a tree pattern can say. ``twigs.subforms`` recognises it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from penstock.twigs.nodetests import Axis, NodeTest


class ValueType(Enum):
    """The atomic types of XPath 1.0."""

    STRING = "string"
    NUMBER = "number"
    BOOLEAN = "boolean"


# Sets of nodes.


@dataclass(frozen=True, slots=True)
class Here:
    """The context node."""


@dataclass(frozen=True, slots=True)
class Root:
    """The document node."""


@dataclass(frozen=True, slots=True)
class Step:
    """The nodes that a location step reaches from the nodes of ``base``.

    Predicates apply one after the other; a position counts along the axis, from each node of
    ``base`` on its own.
    """

    base: Nodes
    axis: Axis
    test: NodeTest
    predicates: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Filter:
    """The nodes of ``base`` that pass the predicates; a position counts in document order."""

    base: Nodes
    predicates: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Union:
    """The nodes of all parts, each once. At least two parts."""

    parts: tuple[Nodes, ...]


@dataclass(frozen=True, slots=True)
class Identified:
    """The elements whose id, by the document's own declarations, is a word of ``words``."""

    words: Atom


@dataclass(frozen=True, slots=True)
class TwigNode:
    """One node of a twig: reached by ``axis`` from its parent, tested, guarded.

    ``variable`` marks an output. ``branches`` are sub-twigs that carry variables; a sub-twig
    without variables is a condition (``Exists``), not a branch. As a set, a twig is what its last
    node matches, seen from the context node.
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


Nodes = Here | Root | Step | Filter | Union | Identified | TwigNode


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


# Atoms.


@dataclass(frozen=True, slots=True)
class Slot:
    """A constant string or number: ``constants[index]`` of the query."""

    index: int
    type: ValueType


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
    """There is a node.

    In a twig ``a/b = 'x'`` is ``Exists(a, where Exists(b, where Compare('=', StringOf(), slot)))``:
    comparisons of node-sets are existential, so they live at the node whose value they need.
    """

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class AtRoot:
    """The condition holds at the document node: an absolute path inside a predicate of a twig."""

    part: Condition


@dataclass(frozen=True, slots=True)
class Compare:
    """``left operator right`` on atomic values by the rules of XPath 1.0, section 3.4.

    Both sides have one type. An order compares numbers.
    """

    operator: str
    left: Atom
    right: Atom


@dataclass(frozen=True, slots=True)
class SomeCompare:
    """Whether the string value of some node compares with an atom.

    Both are numbers if the atom is one or the operator is an order, else strings. A comparison
    with a truth value is none of this kind: it compares ``Exists``.
    """

    operator: str
    nodes: Nodes
    value: Atom


@dataclass(frozen=True, slots=True)
class PairCompare:
    """Whether some node of each side compares: as strings, for an order as numbers."""

    operator: str
    left: Nodes
    right: Nodes


@dataclass(frozen=True, slots=True)
class Call:
    """A function or arithmetic operator of XPath 1.0 on atomic values, by its name there."""

    function: str
    arguments: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """``position()`` of the node under test."""


@dataclass(frozen=True, slots=True)
class Last:
    """``last()``: how many nodes the predicate is tried on."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many nodes there are."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the nodes' numbers."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class StringOf:
    """The string value of the first node in document order; empty where there is none."""

    nodes: Nodes = Here()  # frozen


@dataclass(frozen=True, slots=True)
class NameOf:
    """``name``, ``local-name`` or ``namespace-uri`` of the first node; empty where none is."""

    part: str
    nodes: Nodes = Here()  # frozen


@dataclass(frozen=True, slots=True)
class JoinedStrings:
    """The string values of all nodes, separated by spaces: the words of ``id(nodes)``."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class ListedStrings:
    """The string values of all nodes in document order, as an array of JSON.

    It stands beside results only: the language has no such thing.
    """

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Above:
    """An atom at the parent node; where no parent passes the test, a constant.

    The language has no such thing: a rewrite for the circuit makes it.
    """

    test: NodeTest
    atom: Atom
    otherwise: Slot | Constant


Atom = (
    Slot
    | Constant
    | And
    | Or
    | Not
    | Exists
    | AtRoot
    | Compare
    | SomeCompare
    | PairCompare
    | Call
    | Position
    | Last
    | Count
    | Sum
    | StringOf
    | NameOf
    | JoinedStrings
    | ListedStrings
    | Above
)
Condition = Atom
"""An atom that is a truth value."""
Expression = Nodes | Atom

_FUNCTIONS = {
    ValueType.STRING: (
        "string concat substring substring-before substring-after normalize-space translate"
    ),
    ValueType.NUMBER: "number string-length floor ceiling round + - * div mod negate",
    ValueType.BOOLEAN: "boolean contains starts-with",
}
_TYPE_OF_CALL = {name: kind for kind, names in _FUNCTIONS.items() for name in names.split()}


def type_of(atom: Atom) -> ValueType:
    """Return the type that an atom evaluates to."""
    match atom:
        case Slot(type=kind):
            return kind
        case Call(function=function):
            return _TYPE_OF_CALL[function]
        case StringOf() | NameOf() | JoinedStrings() | ListedStrings():
            return ValueType.STRING
        case Position() | Last() | Count() | Sum():
            return ValueType.NUMBER
        case Above(otherwise=otherwise):
            return type_of(otherwise)
        case _:
            return ValueType.BOOLEAN


def is_condition(atom: Atom) -> bool:
    """Return whether an atom is a truth value, and no function of strings that gives one."""
    if isinstance(atom, Call):
        return atom.function == "boolean"
    return type_of(atom) is ValueType.BOOLEAN


@dataclass(frozen=True, slots=True)
class Selection:
    """The output of a query that is an expression: its nodes, or its value.

    ``type`` is None for nodes. ``beside`` are further values that travel with a result: a string,
    or the first node of a set relative to the result; where the set is empty there is none. With
    ``aggregate`` (``count sum avg min max``) the nodes are summed up instead of reported, with
    ``running`` after every node, else at the end of the document.
    """

    expression: Expression
    type: ValueType | None = None
    beside: tuple[tuple[str, Expression], ...] = ()
    aggregate: str | None = None
    running: bool = False

    def changed(self, change: Callable[[Expression], Any]) -> Selection:
        """Return the selection with its expression and the values beside it changed."""
        expression = change(self.expression)
        beside = tuple([(name, change(nodes)) for name, nodes in self.beside])
        return replace(self, expression=expression, beside=beside)
