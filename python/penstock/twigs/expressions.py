"""Expressions: what a twig cannot say.

A twig selects by conditions at nodes. Whatever needs more (axes that look back or along document
order, positions, node-sets as values) is an expression: sets of nodes, and atoms computed from
them, all evaluated at a context node. The context of a whole query is the document node; inside a
predicate it is the node under test.

Everything is explicit here: conversions are calls of ``string``, ``number`` and ``boolean``, a
predicate that is a number is a comparison with ``Position``, and a function without an argument
has ``Here``. Arguments have the types that their function asks for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from penstock.twigs.nodetests import Axis, NodeTest
from penstock.twigs.patterns import TYPE_OF_CALL, Slot, ValueType


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


Nodes = Here | Root | Step | Filter | Union | Identified


@dataclass(frozen=True, slots=True)
class Apply:
    """A function or operator of XPath 1.0 on atomic values, comparisons included."""

    function: str
    arguments: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class All:
    """``and``: at least two parts, each a truth value."""

    parts: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """``or``: at least two parts, each a truth value."""

    parts: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class Inverse:
    """``not()`` of a truth value."""

    part: Atom


@dataclass(frozen=True, slots=True)
class Position:
    """``position()`` of the node under test."""


@dataclass(frozen=True, slots=True)
class Last:
    """``last()``: how many nodes the predicate is tried on."""


@dataclass(frozen=True, slots=True)
class NonEmpty:
    """Whether there is a node."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class SomeCompare:
    """Whether the string value of some node compares with an atom.

    Both are numbers if the atom is one or the operator is an order, else strings. A comparison
    with a truth value is none of this kind: it compares ``NonEmpty``.
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
class Count:
    """How many nodes there are."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of the nodes' numbers."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class FirstString:
    """The string value of the first node in document order; empty where there is none."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class FirstName:
    """``name``, ``local-name`` or ``namespace-uri`` of the first node; empty where none is."""

    part: str
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class JoinedStrings:
    """The string values of all nodes, separated by spaces: the words of ``id(nodes)``."""

    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Above:
    """An atom at the parent node; where no parent passes the test, a constant.

    The language has no such thing: a rewrite for the circuit makes it.
    """

    test: NodeTest
    atom: Atom
    otherwise: Slot


Atom = (
    Slot
    | Apply
    | All
    | Some
    | Inverse
    | Position
    | Last
    | NonEmpty
    | SomeCompare
    | PairCompare
    | Count
    | Sum
    | FirstString
    | FirstName
    | JoinedStrings
    | Above
)

Expression = Nodes | Atom


def atom_type(atom: Atom) -> ValueType:
    """Return the type that an atom evaluates to."""
    match atom:
        case Slot(type=kind):
            return kind
        case Above(otherwise=otherwise):
            return otherwise.type
        case Apply(function=function):
            return TYPE_OF_CALL[function]
        case Position() | Last() | Count() | Sum():
            return ValueType.NUMBER
        case FirstString() | FirstName() | JoinedStrings():
            return ValueType.STRING
        case _:
            return ValueType.BOOLEAN


@dataclass(frozen=True, slots=True)
class Selection:
    """The output of a query that is an expression: its nodes, or its value.

    ``type`` is None for nodes. ``beside`` are further values, each the first node of a set
    relative to the result, that travel with it; where the set is empty there is none. With
    ``aggregate`` (``count sum avg min max``) the nodes are summed up instead of reported, with
    ``running`` after every node, else at the end of the document.
    """

    expression: Expression
    type: ValueType | None = None
    beside: tuple[tuple[str, Nodes], ...] = ()
    aggregate: str | None = None
    running: bool = False

    def changed(self, change: Callable[[Expression], Any]) -> Selection:
        """Return the selection with its expression and the sets beside it changed."""
        expression = change(self.expression)
        beside = tuple([(name, change(nodes)) for name, nodes in self.beside])
        return replace(self, expression=expression, beside=beside)
