"""Which nodes of a document a table needs, what of them, and for how long.

The places are those of a projection of XQuery. A column may look around its record: a *spot* is a
place with the time for which its nodes are needed.

- Nodes of a record are needed as long as its region.
- What lies beside an element around the record, as a header does, is needed until that element,
  the *anchor*, ends. The spot counts the levels between them.
- What is found otherwise is needed until the document ends.

A place may stand for more nodes than an expression reaches, never for fewer: the expression itself
is evaluated over what was kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from penstock.planning.sequences.projection import BYTES, NODE, TREE, VALUE, Place
from penstock.planning.tables.regions import Region
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import ANY_NODE, DOCUMENT_NODE, Axis, NodeKind, NodeTest
from penstock.twigs.parts import parts_of
from penstock.twigs.tables import Column, Table

_ELEMENT = NodeTest(NodeKind.ELEMENT)
_REGION = -1
"""A node of the region; other spots have the levels below their anchor."""
_DOWN = {Axis.SELF, Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE}
_SIBLINGS = {Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING}


class Spot(NamedTuple):
    """A place, and how long its nodes are needed; None is until the document ends."""

    place: Place
    levels: int | None


Spots = set[Spot]


class TableProjection:
    """The nodes that a table needs: ``root`` is the document node."""

    def __init__(self, table: Table, region: Region) -> None:
        self.root = Place(Axis.SELF, DOCUMENT_NODE)
        place = self.root
        for step in region.steps:
            place = place.step(step.axis, step.test)
        self.region = place
        here = {Spot(place, _REGION if region.steps else None)}
        if region.steps:
            place.gathers.append(0)
            place.marks |= NODE
        records = self._nodes(region.records, here)
        self._mark(records, NODE)
        self._columns(table.columns, records)

    def _columns(self, columns: Iterable[Column], here: Spots) -> None:
        for column in columns:
            spots = here
            if isinstance(column.source, x.Nodes):
                spots = self._nodes(column.source, here)
            elif column.source is not None:
                self._atom(column.source, here)
                continue
            if column.type is None:
                self._mark(spots, NODE)
                self._columns(column.columns, spots)
            else:
                self._mark(spots, BYTES if column.type.name == "xml" else VALUE)

    def _mark(self, spots: Spots, mark: int) -> None:
        for place, levels in spots:
            if place.above is None:
                # Nothing inside the document may be dropped where its value is needed.
                place.kept |= TREE if mark > NODE else 0
            elif levels is None:
                place.kept |= mark
            elif levels == _REGION:
                place.marks |= mark
            else:
                place.held |= mark
                place.levels = max(place.levels, levels)

    def _nodes(self, nodes: x.Expression, here: Spots) -> Spots:
        match nodes:
            case x.Here():
                return here
            case x.Root():
                return {Spot(self.root, None)}
            case x.Step(base=base, axis=axis, test=test, predicates=predicates):
                spots = self._step(self._nodes(base, here), axis, test)
                self._predicates(predicates, spots)
                return spots
            case x.Filter(base=base, predicates=predicates):
                spots = self._nodes(base, here)
                self._predicates(predicates, spots)
                return spots
            case x.Union(parts=parts):
                return set().union(*[self._nodes(part, here) for part in parts])
        raise AssertionError("other sets are rejected by the front end")

    def _predicates(self, predicates: Iterable[x.Atom], spots: Spots) -> None:
        for predicate in predicates:
            self._mark(spots, NODE)
            self._atom(predicate, spots)

    def _atom(self, atom: x.Expression, here: Spots) -> None:
        match atom:
            case x.Exists(nodes=nodes) | x.Count(nodes=nodes) | x.NameOf(nodes=nodes):
                self._mark(self._nodes(nodes, here), NODE)
            case x.StringOf(nodes=nodes) | x.Sum(nodes=nodes):
                self._mark(self._nodes(nodes, here), VALUE)
            case x.SomeCompare(nodes=nodes, value=value):
                self._mark(self._nodes(nodes, here), VALUE)
                self._atom(value, here)
            case x.PairCompare(left=left, right=right):
                self._mark(self._nodes(left, here) | self._nodes(right, here), VALUE)
            case _:
                for part in parts_of(atom):
                    self._atom(part, here)

    def _step(self, spots: Spots, axis: Axis, test: NodeTest) -> Spots:
        if axis in _DOWN:
            return {_below(spot, axis, test) for spot in spots}
        # The node itself has to be there to look around from it; anchors are there anyway.
        self._mark({spot for spot in spots if spot.levels != 0}, NODE)
        if axis in _SIBLINGS:
            return {_below(spot, Axis.CHILD, test) for spot in self._parents(spots)}
        if axis in (Axis.FOLLOWING, Axis.PRECEDING):
            return {Spot(self.root.step(Axis.DESCENDANT, test), None)}
        reached = self._parents(spots)
        if axis is not Axis.PARENT:
            reached = self._ancestors(reached)
        if axis is Axis.ANCESTOR_OR_SELF:
            reached |= spots
        if test == ANY_NODE:
            return reached
        return {_below(spot, Axis.SELF, test) for spot in reached}

    def _ancestors(self, spots: Spots) -> Spots:
        reached, waiting = set(spots), set(spots)
        while waiting:
            waiting = self._parents(waiting) - reached
            reached |= waiting
        return reached

    def _parents(self, spots: Spots) -> Spots:
        return {parent for spot in spots for parent in self._parents_of(spot)}

    def _parents_of(self, spot: Spot) -> Spots:
        place, levels = spot
        above = place.above
        if above is None:
            return set()
        if place.axis is Axis.SELF:
            return self._parents_of(Spot(above, levels))
        if place is self.region and levels == _REGION:
            levels = 0
        elif levels is not None and levels > 0 and place.axis is not Axis.ATTRIBUTE:
            levels -= 1
        parents = {Spot(above, levels)}
        if place.axis in (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF):
            parents.add(Spot(above.step(Axis.DESCENDANT, _ELEMENT), levels))
        if place.axis is Axis.DESCENDANT_OR_SELF:
            parents |= self._parents_of(Spot(above, spot.levels))
        return parents


def _below(spot: Spot, axis: Axis, test: NodeTest) -> Spot:
    place, levels = spot
    if levels is not None and levels >= 0:
        if axis is Axis.CHILD:
            levels += 1
        elif axis in (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF):
            levels = None
    return Spot(place.step(axis, test), levels)
