"""Paths, predicates and sets of nodes."""

from __future__ import annotations

from decimal import Decimal

from penstock.twigs import NodeKind
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock_testing.reference.paths import nodes_on, passes
from penstock_testing.sequences.context import Context, only_nodes
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.items import Atom, Items, is_numeric, truth_of
from penstock_testing.sequences.trees import root_of
from penstock_testing.tree import Node


def here(_expression: x.Here, context: Context) -> Items:
    """Return the context item."""
    return [context.here()]


def root(_expression: x.Root, context: Context) -> Items:
    """Return the document node above the context item."""
    item = context.here()
    if isinstance(item, Atom):
        raise DynamicError("XPTY0020", "a path begins at a node")
    top = root_of(item)
    if top.kind is not NodeKind.DOCUMENT:
        raise DynamicError("XPDY0050", "the tree has no document node")
    return [top]


def stream(expression: q.Stream, context: Context) -> Items:
    """Return the document node of a stream."""
    world = context.world
    tree = world.documents.get(expression.name, world.document)
    if tree is None:
        raise DynamicError("FODC0002", f"there is no document {expression.name!r}")
    return [world.forest.plant(tree.root)]


def step(expression: x.Step, context: Context) -> Items:
    """Return the nodes that a step reaches, in document order."""
    code = "XPTY0020" if isinstance(expression.base, x.Here) else "XPTY0019"
    found: list[Node] = []
    for base in context.nodes(expression.base, code, "a step"):
        reached: Items = [n for n in nodes_on(expression.axis, base) if passes(expression.test, n)]
        for predicate in expression.predicates:
            reached = filtered(reached, predicate, context)
        found += only_nodes(reached, "XPTY0019", "a step")
    return list(context.world.forest.in_order(found))


def filter_items(expression: x.Filter, context: Context) -> Items:
    """Return the items that pass all predicates; positions count along the sequence."""
    items = context.items(expression.base)
    for predicate in expression.predicates:
        items = filtered(items, predicate, context)
    return items


def filtered(items: Items, predicate: object, context: Context) -> Items:
    """Return the items that pass one predicate."""
    size = len(items)
    return [
        item
        for position, item in enumerate(items, start=1)
        if _accepts(context.at(item, position, size), predicate)
    ]


def _accepts(context: Context, predicate: object) -> bool:
    found = context.items(predicate)
    if len(found) == 1 and isinstance(found[0], Atom) and is_numeric(found[0]):
        value = found[0].value
        return bool(
            value == (Decimal(context.position) if isinstance(value, Decimal) else context.position)
        )
    return truth_of(found)


def each(expression: q.Each, context: Context) -> Items:
    """Return the values of a body for every node of a base."""
    bases = context.nodes(expression.base, "XPTY0019", "a path")
    found: Items = []
    for position, node in enumerate(bases, start=1):
        found += context.at(node, position, len(bases)).items(expression.body)
    nodes = [item for item in found if isinstance(item, Node)]
    if not nodes:
        return found
    if len(nodes) < len(found):
        raise DynamicError("XPTY0018", "a path has nodes and atomic values")
    return list(context.world.forest.in_order(nodes))


def union(expression: x.Union, context: Context) -> Items:
    """Return the nodes of all parts."""
    parts = [context.nodes(part, "XPTY0004", "union") for part in expression.parts]
    return list(context.world.forest.in_order(node for part in parts for node in part))


def combine(expression: q.Combine, context: Context) -> Items:
    """Return ``intersect`` or ``except``."""
    left = context.nodes(expression.left, "XPTY0004", expression.operator)
    right = set(context.nodes(expression.right, "XPTY0004", expression.operator))
    is_kept = expression.operator == "intersect"
    return list(context.world.forest.in_order(n for n in left if (n in right) is is_kept))


def position(_expression: x.Position, context: Context) -> Items:
    """Return ``position()``."""
    context.here()
    return [Atom("integer", context.position)]


def last(_expression: x.Last, context: Context) -> Items:
    """Return ``last()``."""
    context.here()
    return [Atom("integer", context.size)]
