"""What is taken for granted, as queries that match a document which breaks it.

A way down is written out because of where an element and those above it may stand. So for each of
these elements a query asks for one that stands elsewhere. If none does, all elements above an
element that a way leads to lie on ways of the element graph, and no other way leads there.
The queries are filters in the plan of the rewritten programs: one pass evaluates both.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.planning.compile import compile_query
from penstock.planning.schemas.knowledge import test_of
from penstock.schemas import Name, Schema
from penstock.twigs import Block, Fragments, Query
from penstock.twigs import expressions as x
from penstock.twigs.logic import disjunction, negation
from penstock.twigs.nodetests import DOCUMENT_NODE, Axis, NodeKind, NodeTest

_VARIABLE = "x"
_ELEMENT = NodeTest(NodeKind.ELEMENT)


def watched(schema: Schema, targets: Iterable[Name]) -> list[Name]:
    """Return the elements that the ways to some elements go through, those included."""
    found: set[Name] = set()
    waiting = [*targets]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += schema.parents.get(name, ())
    return sorted(found, key=str)


def watch(schema: Schema, name: Name) -> bytes:
    """Return the program that matches a document with an element in a place it may not have."""
    wanted = x.TwigNode(Axis.CHILD, test_of(name), variable=_VARIABLE)
    parents = [
        x.Exists(x.TwigNode(Axis.SELF, test_of(parent)))
        for parent in sorted(schema.parents.get(name, ()), key=str)
    ]
    elsewhere = x.TwigNode(
        Axis.DESCENDANT, _ELEMENT, negation(disjunction(*parents)), branches=(x.Branch(wanted),)
    )
    starts = [elsewhere] if name in schema.roots else [elsewhere, wanted]
    alternatives = tuple(
        x.TwigNode(Axis.SELF, DOCUMENT_NODE, branches=(x.Branch(start),)) for start in starts
    )
    query = Query((Block(alternatives),), Fragments(_VARIABLE))
    return compile_query(query, is_filter=True)
