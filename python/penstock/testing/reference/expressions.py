"""Expressions over trees: sets of nodes and atomic values at a context node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from penstock.testing.reference.conditions import name_part, speaks
from penstock.testing.reference.functions import SPACE, call
from penstock.testing.reference.paths import in_document_order, nodes_on, passes
from penstock.testing.reference.values import COMPARISONS, Atomic, compare, to_number
from penstock.testing.tree import Node, Tree
from penstock.twigs import Slot
from penstock.twigs.expressions import (
    Above,
    All,
    Apply,
    Atom,
    Count,
    Filter,
    FirstName,
    FirstString,
    Here,
    Identified,
    Inverse,
    JoinedStrings,
    Last,
    Nodes,
    NonEmpty,
    PairCompare,
    Position,
    Root,
    Some,
    SomeCompare,
    Step,
    Sum,
    Union,
)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an expression refers to beside its context node."""

    tree: Tree
    constants: tuple[Atomic, ...] = ()


@dataclass(frozen=True, slots=True)
class Context:
    """The node that an expression is evaluated at, its position, and how many are tried."""

    node: Node
    around: Surroundings
    position: int = 1
    last: int = 1

    def at(self, node: Node, position: int = 1, last: int = 1) -> Context:
        """Return another context in the same surroundings."""
        return Context(node, self.around, position, last)


def nodes_in(nodes: Nodes, context: Context) -> list[Node]:
    """Return the nodes of a set, each once, in document order."""
    match nodes:
        case Here():
            return [context.node]
        case Root():
            return [context.around.tree.root]
        case Step(base, axis, test, predicates):
            found = []
            for near in nodes_in(base, context):
                reached = [far for far in nodes_on(axis, near) if passes(test, far)]
                found.extend(_kept(reached, predicates, context))
            return in_document_order(found)
        case Filter(base, predicates):
            return _kept(nodes_in(base, context), predicates, context)
        case Union(parts):
            return in_document_order(node for part in parts for node in nodes_in(part, context))
        case Identified(words):
            ids = context.around.tree.ids
            wanted = words_of(str(value_at(words, context)))
            return in_document_order(ids[word] for word in wanted if word in ids)


def value_at(atom: Atom, context: Context) -> Atomic:
    """Return the value of an atom."""
    match atom:
        case Slot(index):
            return context.around.constants[index]
        case Apply("lang", (language,)):
            return speaks(str(value_at(language, context)), context.node)
        case Apply(function, arguments):
            return apply(function, [value_at(argument, context) for argument in arguments])
        case All(parts):
            return all(value_at(part, context) for part in parts)
        case Some(parts):
            return any(value_at(part, context) for part in parts)
        case Inverse(part):
            return not value_at(part, context)
        case Position():
            return float(context.position)
        case Last():
            return float(context.last)
        case NonEmpty(nodes):
            return bool(nodes_in(nodes, context))
        case SomeCompare(operator, nodes, value):
            other = value_at(value, context)
            found = nodes_in(nodes, context)
            return any(compare(operator, node.string_value(), other) for node in found)
        case PairCompare(operator, left, right):
            pairs = product(nodes_in(left, context), nodes_in(right, context))
            return any(compare(operator, a.string_value(), b.string_value()) for a, b in pairs)
        case Count(nodes):
            return float(len(nodes_in(nodes, context)))
        case Sum(nodes):
            return sum((to_number(n.string_value()) for n in nodes_in(nodes, context)), 0.0)
        case FirstString(nodes):
            return next((n.string_value() for n in nodes_in(nodes, context)), "")
        case FirstName(part, nodes):
            return next((name_part(part, n) for n in nodes_in(nodes, context)), "")
        case Above(test, inner, otherwise):
            parent = context.node.parent
            if parent is None or not passes(test, parent):
                return value_at(otherwise, context)
            return value_at(inner, context.at(parent, 1, 1))
        case JoinedStrings(nodes):
            return " ".join(n.string_value() for n in nodes_in(nodes, context))


def apply(function: str, values: Sequence[Atomic]) -> Atomic:
    """Return what a function or a comparison makes of values."""
    return compare(function, *values) if function in COMPARISONS else call(function, values)


def words_of(text: str) -> list[str]:
    """Return the words of a text, which white space separates."""
    return [word for word in SPACE.split(text) if word]


def _kept(nodes: list[Node], predicates: Sequence[Atom], context: Context) -> list[Node]:
    """The nodes that pass every predicate; positions count in the order given."""
    for predicate in predicates:
        last = len(nodes)
        nodes = [
            node
            for position, node in enumerate(nodes, 1)
            if value_at(predicate, context.at(node, position, last))
        ]
    return nodes
