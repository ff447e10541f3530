"""Functions on sequences of items."""

from __future__ import annotations

import math

from penstock.twigs import NodeKind
from penstock_testing.sequences.comparing import are_same, compare_values, is_nan
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.strings import check_collation
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import (
    STRINGS,
    Atom,
    Item,
    Items,
    atomize,
    boolean,
    integer,
    primitive,
)
from penstock_testing.tree import Node


@function("data", "item*")
def _data(_context: Context, items: Items) -> Items:
    return list(atomize(items))


@function("empty", "item*")
def _empty(_context: Context, items: Items) -> Items:
    return [boolean(not items)]


@function("exists", "item*")
def _exists(_context: Context, items: Items) -> Items:
    return [boolean(bool(items))]


@function("distinct-values", "anyAtomicType*", "string", least=1)
def _distinct_values(_context: Context, items: Items, *collation: Items) -> Items:
    for one in collation:
        check_collation(one)
    kept: list[Atom] = []
    texts: set[str] = set()
    others: list[Atom] = []
    for atom in atomize(items):
        # Text is equal to text alone, so that a set finds it.
        if primitive(atom.type) in STRINGS:
            is_known = atom.value in texts
            texts.add(atom.value)
        else:
            is_known = any(are_same(atom, other) for other in others)
            others.append(atom)
        if not is_known:
            kept.append(atom)
    return list(kept)


@function("index-of", "anyAtomicType*", "anyAtomicType", "string", least=2)
def _index_of(_context: Context, items: Items, wanted: Items, *collation: Items) -> Items:
    for one in collation:
        check_collation(one)
    (searched,) = atomize(wanted)
    return [
        integer(place)
        for place, atom in enumerate(atomize(items), start=1)
        if not is_nan(atom) and are_same(atom, searched)
    ]


def _integer(items: Items) -> int:
    (atom,) = items
    assert isinstance(atom, Atom)
    return int(atom.value)


@function("insert-before", "item*", "integer", "item*")
def _insert_before(_context: Context, items: Items, place: Items, added: Items) -> Items:
    before = max(0, _integer(place) - 1)
    return [*items[:before], *added, *items[before:]]


@function("remove", "item*", "integer")
def _remove(_context: Context, items: Items, place: Items) -> Items:
    return [item for number, item in enumerate(items, start=1) if number != _integer(place)]


@function("reverse", "item*")
def _reverse(_context: Context, items: Items) -> Items:
    return items[::-1]


@function("unordered", "item*")
def _unordered(_context: Context, items: Items) -> Items:
    return items


@function("subsequence", "item*", "double", "double", least=2)
def _subsequence(_context: Context, items: Items, start: Items, *length: Items) -> Items:
    first = _rounded(start)
    end = first + _rounded(length[0]) if length else math.inf
    return [item for place, item in enumerate(items, start=1) if first <= place < end]


def _rounded(items: Items) -> float:
    (atom,) = items
    assert isinstance(atom, Atom)
    value = float(atom.value)
    return value if math.isnan(value) or math.isinf(value) else math.floor(value + 0.5)


@function("zero-or-one", "item*")
def _zero_or_one(_context: Context, items: Items) -> Items:
    if len(items) > 1:
        raise DynamicError("FORG0003", f"zero-or-one got {len(items)} items")
    return items


@function("one-or-more", "item*")
def _one_or_more(_context: Context, items: Items) -> Items:
    if not items:
        raise DynamicError("FORG0004", "one-or-more got nothing")
    return items


@function("exactly-one", "item*")
def _exactly_one(_context: Context, items: Items) -> Items:
    if len(items) != 1:
        raise DynamicError("FORG0005", f"exactly-one got {len(items)} items")
    return items


@function("deep-equal", "item*", "item*", "string", least=2)
def _deep_equal(_context: Context, left: Items, right: Items, *collation: Items) -> Items:
    for one in collation:
        check_collation(one)
    is_equal = len(left) == len(right) and all(map(_are_equal, left, right))
    return [boolean(is_equal)]


def _are_equal(left: Item, right: Item) -> bool:
    if isinstance(left, Atom) and isinstance(right, Atom):
        if is_nan(left) and is_nan(right):
            return True
        try:
            return compare_values("eq", left, right)
        except DynamicError:
            return False
    if isinstance(left, Atom) or isinstance(right, Atom):
        return False
    return _are_equal_nodes(left, right)


def _are_equal_nodes(left: Node, right: Node) -> bool:
    if left.kind is not right.kind or (left.uri, left.local) != (right.uri, right.local):
        return False
    if left.kind not in (NodeKind.ELEMENT, NodeKind.DOCUMENT):
        return left.value == right.value
    attributes = [
        {(one.uri, one.local): one.value for one in node.attributes} for node in (left, right)
    ]
    if attributes[0] != attributes[1]:
        return False
    children = [
        [c for c in node.children if c.kind in (NodeKind.ELEMENT, NodeKind.TEXT)]
        for node in (left, right)
    ]
    return len(children[0]) == len(children[1]) and all(map(_are_equal_nodes, *children))
