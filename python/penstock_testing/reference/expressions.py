"""Expressions over trees: sets of nodes and atomic values at a context node, twigs among them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from penstock.twigs import Axis
from penstock.twigs.expressions import (
    Above,
    And,
    Atom,
    AtRoot,
    Branch,
    Call,
    Compare,
    Condition,
    Constant,
    Count,
    Exists,
    Filter,
    Here,
    Identified,
    JoinedStrings,
    Last,
    ListedStrings,
    NameOf,
    Nodes,
    Not,
    Or,
    PairCompare,
    Position,
    Root,
    Slot,
    SomeCompare,
    Step,
    StringOf,
    Sum,
    TwigNode,
    Union,
)
from penstock_testing.reference.functions import SPACE, call
from penstock_testing.reference.paths import in_document_order, nodes_on, passes
from penstock_testing.reference.values import Atomic, compare, to_number
from penstock_testing.tree import XML, Node


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression refers to beside its context node."""

    root: Node
    constants: tuple[Atomic, ...] = ()
    ids: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Context:
    """The node that an expression is evaluated at, its position, and how many are tried."""

    node: Node
    scope: Scope
    position: int = 1
    last: int = 1

    def at(self, node: Node, position: int = 1, last: int = 1) -> Context:
        """Return another context in the same scope."""
        return Context(node, self.scope, position, last)


def nodes_in(nodes: Nodes, context: Context) -> list[Node]:
    """Return the nodes of a set, each once, in document order."""
    match nodes:
        case Here():
            return [context.node]
        case Root():
            return [context.scope.root]
        case Step(base, axis, test, predicates):
            found = []
            for near in nodes_in(base, context):
                passing = [far for far in nodes_on(axis, near) if passes(test, far)]
                found.extend(_kept(passing, predicates, context))
            return in_document_order(found)
        case Filter(base, predicates):
            return _kept(nodes_in(base, context), predicates, context)
        case Union(parts):
            return in_document_order(node for part in parts for node in nodes_in(part, context))
        case Identified(words):
            ids = context.scope.ids
            wanted = words_of(str(value_at(words, context)))
            return in_document_order(ids[word] for word in wanted if word in ids)
        case TwigNode():
            return reached(spine_of(nodes), context.node, context.scope)


def holds(condition: Condition, node: Node, scope: Scope) -> bool:
    """Return whether the condition holds at the node."""
    return bool(value_at(condition, Context(node, scope)))


def value_at(atom: Atom, context: Context) -> Atomic:
    """Return the value of an atom."""
    match atom:
        case Slot(index):
            return context.scope.constants[index]
        case Call("lang", (language,)):
            return speaks(str(value_at(language, context)), context.node)
        case Call(function, arguments):
            return call(function, [value_at(argument, context) for argument in arguments])
        case Constant(value):
            return value
        case Compare(operator, left, right):
            return compare(operator, value_at(left, context), value_at(right, context))
        case And(parts):
            return all(value_at(part, context) for part in parts)
        case Or(parts):
            return any(value_at(part, context) for part in parts)
        case Not(part):
            return not value_at(part, context)
        case Position():
            return float(context.position)
        case Last():
            return float(context.last)
        case Exists(TwigNode() as twig):
            return any(True for _ in matched(twig, context.node, context.scope))
        case Exists(nodes):
            return bool(nodes_in(nodes, context))
        case AtRoot(part):
            return value_at(part, context.at(context.scope.root))
        case SomeCompare(operator, nodes, atom):
            other = value_at(atom, context)
            found = nodes_in(nodes, context)
            return any(compare(operator, node.string_value(), other) for node in found)
        case PairCompare(operator, near, far):
            pairs = product(nodes_in(near, context), nodes_in(far, context))
            return any(compare(operator, a.string_value(), b.string_value()) for a, b in pairs)
        case Count(nodes):
            return float(len(nodes_in(nodes, context)))
        case Sum(nodes):
            return sum((to_number(n.string_value()) for n in nodes_in(nodes, context)), 0.0)
        case StringOf(nodes):
            return next((n.string_value() for n in nodes_in(nodes, context)), "")
        case NameOf(part, nodes):
            return next((name_part(part, n) for n in nodes_in(nodes, context)), "")
        case Above(test, inner, otherwise):
            parent = context.node.parent
            if parent is None or not passes(test, parent):
                return value_at(otherwise, context)
            return value_at(inner, context.at(parent, 1, 1))
        case JoinedStrings(nodes):
            return " ".join(n.string_value() for n in nodes_in(nodes, context))
        case ListedStrings(nodes):
            texts = [n.string_value() for n in nodes_in(nodes, context)]
            return json.dumps(texts, ensure_ascii=False, separators=(",", ":"))


def matched(
    twig: TwigNode, context: Node, scope: Scope, beside: Branch | None = None
) -> Iterator[Node]:
    """Yield the nodes that the twig node itself matches.

    Its required branches match there too, except the one ``beside`` which the caller looks.
    """
    required = [b.node for b in twig.branches if not b.optional and b is not beside]
    for node in nodes_on(twig.axis, context):
        if (
            passes(twig.test, node)
            and holds(twig.where, node, scope)
            and all(any(True for _ in matched(branch, node, scope)) for branch in required)
        ):
            yield node


def reached(spine: Sequence[TwigNode], context: Node, scope: Scope) -> list[Node]:
    """Return the nodes at the far end of a spine, in document order."""
    nodes = [context]
    for place, twig in enumerate(spine):
        after = spine[place + 1] if place + 1 < len(spine) else None
        onward = next((branch for branch in twig.branches if branch.node is after), None)
        nodes = in_document_order(
            far for near in nodes for far in matched(twig, near, scope, onward)
        )
    return nodes


def spine_to(variable: str, twig: TwigNode) -> tuple[TwigNode, ...] | None:
    """Return the twig nodes from the top down to the one that binds the variable."""
    if twig.variable == variable:
        return (twig,)
    for branch in twig.branches:
        below = spine_to(variable, branch.node)
        if below is not None:
            return (twig, *below)
    return None


def spine_of(path: TwigNode) -> tuple[TwigNode, ...]:
    """Return the twig nodes of a path, whose nodes have one branch at most."""
    if not path.branches:
        return (path,)
    (branch,) = path.branches
    return (path, *spine_of(branch.node))


def name_part(part: str, node: Node) -> str:
    """Return ``name()``, ``local-name()`` or ``namespace-uri()`` of a node."""
    match part:
        case "name":
            return node.name
        case "local-name":
            return node.local
        case "namespace-uri":
            return node.uri
    raise ValueError(f"a name has no part {part!r}")


def speaks(language: str, node: Node) -> bool:
    """Return whether the language in force at a node is the wanted one or a variety of it."""
    for level in nodes_on(Axis.ANCESTOR_OR_SELF, node):
        for attribute in level.attributes:
            if attribute.local == "lang" and attribute.uri == XML:
                spoken, wanted = attribute.value.lower(), language.lower()
                return spoken == wanted or spoken.startswith(wanted + "-")
    return False


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
