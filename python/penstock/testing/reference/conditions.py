"""Conditions and scalars at a context node, and the nodes that a twig reaches from one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.testing.reference.functions import call
from penstock.testing.reference.paths import in_document_order, nodes_on, passes
from penstock.testing.reference.values import Atomic, compare, to_boolean
from penstock.testing.tree import XML, Node
from penstock.twigs import (
    And,
    AtRoot,
    Axis,
    BooleanOf,
    Branch,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    Holds,
    NameOf,
    Not,
    Or,
    Scalar,
    Slot,
    StringOf,
    TwigNode,
)


@dataclass(frozen=True, slots=True)
class Scope:
    """What conditions refer to beside their context node."""

    root: Node
    constants: tuple[Atomic, ...] = ()


def holds(condition: Condition, node: Node, scope: Scope) -> bool:
    """Return whether the condition holds at the node."""
    match condition:
        case Constant(value):
            return value
        case And(parts):
            return all(holds(part, node, scope) for part in parts)
        case Or(parts):
            return any(holds(part, node, scope) for part in parts)
        case Not(part):
            return not holds(part, node, scope)
        case Exists(twig):
            return any(True for _ in matched(twig, node, scope))
        case AtRoot(part):
            return holds(part, scope.root, scope)
        case Compare(operator, left, right):
            values = value_of(left, node, scope), value_of(right, node, scope)
            return compare(operator, *values)
        case Holds(scalar):
            return to_boolean(value_of(scalar, node, scope))


def value_of(scalar: Scalar, node: Node, scope: Scope) -> Atomic:
    """Return the value of the scalar at the node."""
    match scalar:
        case Slot(index):
            return scope.constants[index]
        case StringOf(path, absolute):
            first = _first(path, scope.root if absolute else node, scope)
            return "" if first is None else first.string_value()
        case NameOf(part, path, absolute):
            first = _first(path, scope.root if absolute else node, scope)
            return "" if first is None else name_part(part, first)
        case Call("lang", (language,)):
            return speaks(str(value_of(language, node, scope)), node)
        case Call(function, arguments):
            return call(function, [value_of(argument, node, scope) for argument in arguments])
        case BooleanOf(condition):
            return holds(condition, node, scope)


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


def _first(path: TwigNode | None, context: Node, scope: Scope) -> Node | None:
    if path is None:
        return context
    return next(iter(reached(spine_of(path), context, scope)), None)
