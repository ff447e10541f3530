"""Sequence types: whether a sequence has one, and the conversion of arguments to one."""

from __future__ import annotations

from penstock.twigs import NodeKind, NodeTest
from penstock.twigs.sequences import ItemType, SequenceType
from penstock_testing.reference.paths import passes
from penstock_testing.sequences.casting import cast
from penstock_testing.sequences.errors import mistyped
from penstock_testing.sequences.items import Atom, Item, Items, atomize, derives, primitive
from penstock_testing.tree import Node

_COUNTS = {"": (1, 1), "?": (0, 1), "*": (0, None), "+": (1, None), "0": (0, 0)}


def counts(occurrence: str, items: Items) -> bool:
    """Return whether there are as many items as an occurrence allows."""
    least, most = _COUNTS[occurrence]
    return len(items) >= least and (most is None or len(items) <= most)


def is_instance(items: Items, type_: SequenceType) -> bool:
    """Return whether a sequence has a type."""
    return counts(type_.occurrence, items) and all(matches(item, type_.item) for item in items)


def matches(item: Item, type_: ItemType) -> bool:
    """Return whether an item has a type."""
    if type_.kind == "item":
        return True
    if type_.kind == "atomic":
        return isinstance(item, Atom) and derives(item.type, type_.name)
    if isinstance(item, Atom):
        return False
    if type_.test is not None and not passes(type_.test, item):
        return False
    return type_.element is None or _is_document_of(item, type_.element)


def _is_document_of(node: Node, element: NodeTest) -> bool:
    """Return whether a document has one element, which passes, and no text beside it."""
    inside = [child for child in node.children if child.kind in (NodeKind.ELEMENT, NodeKind.TEXT)]
    return len(inside) == 1 and passes(element, inside[0])


def converted(items: Items, type_: SequenceType, what: str) -> Items:
    """Return an argument or a result of a function in the type that it is declared with.

    Values of nodes are taken, untyped text is cast, numbers and URIs are promoted: section 3.1.5.

    Raises:
        DynamicError: XPTY0004, it has not that type; FORG0001, text is no such value.
    """
    if type_.item.kind == "atomic":
        items = [convert_atom(atom, type_.item.name) for atom in atomize(items)]
    if not is_instance(items, type_):
        raise mistyped(f"{what} has not the type that is declared")
    return items


def convert_atom(atom: Atom, target: str) -> Atom:
    """Return an atomic value in a type, where a function call converts it by itself."""
    if atom.type == "untypedAtomic" and target != "anyAtomicType":
        return cast(atom, target)
    kind = primitive(atom.type)
    if target == "double" and kind in ("decimal", "float"):
        return cast(atom, "double")
    if target == "float" and kind == "decimal":
        return cast(atom, "float")
    if target == "string" and kind == "anyURI":
        return Atom("string", atom.value)
    return atom
