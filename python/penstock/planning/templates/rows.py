"""A compiled XSCL query: rows of RT, one for each operator, and what becomes of their bindings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.planning.templates.shapes import Template
from penstock.planning.templates.variables import Edge, Variable
from penstock.twigs import Event, JoinKind

LEFT = 0
RIGHT = 1


class Place(NamedTuple):
    """A variable of a row: which side, and which place among the variables of its witness tree."""

    side: int
    place: int


@dataclass(frozen=True, slots=True)
class Term:
    """``left operator right`` between the string values of two places, beside the value joins.

    ``=`` and ``!=`` compare strings, ``<``, ``<=``, ``>`` and ``>=`` numbers, by XPath 1.0. The
    places are on different sides (an inequality of the operator) or on the same one (a filter of
    that block, which may also be an equality).
    """

    left: Place
    operator: str
    right: Place


@dataclass(frozen=True, slots=True)
class WitnessTree:
    """All that a row asks of the documents of one side.

    ``variables`` are those that join, those that terms compare, those that go on, and the lowest
    common ancestors of all these; ``parents`` gives the place of each one's parent, parents first,
    TOP for the first. ``edges`` are the edges from each variable's parent to it, so one less.

    ``slots`` are the places of the minor, in the order of the template's slots of this side.
    ``valued`` are the places whose string values are needed, in order: slots that join, operands
    of terms, and what the output inserts by its value.
    """

    stream: str | None
    variables: tuple[Variable, ...]
    parents: tuple[int, ...]
    edges: tuple[Edge, ...]
    slots: tuple[int, ...]
    valued: tuple[int, ...] = field(compare=False)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of RT: one operator of one query, as stage 2 evaluates it.

    A binding of the row is one node for each variable of both trees such that all edges hold, the
    slots that ``template.joins`` pairs have equal string values and all terms hold; its documents
    differ and satisfy ``kind`` and ``window_us`` by their event times t1 and t2 in microseconds:
    FOLLOWED BY 0 < t2 - t1 <= window, JOIN |t2 - t1| <= window. None is an infinite window.
    Slots keep the query's orientation: the left slots bind in the document of the left block,
    whichever of the two arrives first.

    What goes on from a row are the distinct tuples of the nodes at ``kept``, for each combination
    of documents. NOT FOLLOWED BY keeps left places only: what goes on are the kept nodes of those
    bindings of the left tree (terms within the left side included) for which no document of the
    right side gives a binding with 0 < t2 - t1 <= window.

    ``output`` names the stream of partial matches that the next row reads; None for the last row.
    """

    template: Template
    kind: JoinKind
    window_us: int | None
    left: WitnessTree
    right: WitnessTree
    terms: tuple[Term, ...]
    kept: tuple[Place, ...]
    output: str | None = None

    @property
    def joins(self) -> tuple[tuple[int, int], ...]:
        """The places that have equal values, left and right, in the order of the template's."""
        left, right = self.left.slots, self.right.slots
        return tuple([(left[one], right[other]) for one, other in self.template.joins])

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variable of each slot of the template, left slots first."""
        return tuple(
            tree.variables[place] for tree in (self.left, self.right) for place in tree.slots
        )


@dataclass(frozen=True, slots=True)
class Alone:
    """A query of one block: the distinct tuples of the nodes at ``kept`` of each document."""

    tree: WitnessTree
    terms: tuple[Term, ...]
    kept: tuple[Place, ...]


@dataclass(frozen=True, slots=True)
class JoinQuery:
    """A compiled XSCL query.

    ``rows`` has one row for each operator, from left to right: a chain of more than two blocks is
    evaluated in strata, and a query of one block has no row but ``alone``. A row after the first
    has on its left the partial matches of the one before it. A partial match is a document made
    of bindings: one node for the match itself, and below it one node for each place that the row
    before kept, each the only binding of its variable. Its event time is that of its latest part,
    its documents are those of its parts, and the right side binds none of them.

    ``event`` says what a result is. The nodes that go on from the last row, or from ``alone``,
    are the bindings of ``event.select``, in that order.
    """

    rows: tuple[Row, ...]
    event: Event
    alone: Alone | None = None

    @property
    def trees(self) -> Iterator[WitnessTree]:
        """The witness trees over documents, one for each block in order."""
        if self.alone is not None:
            yield self.alone.tree
        for number, row in enumerate(self.rows):
            if number == 0:
                yield row.left
            yield row.right
