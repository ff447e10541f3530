"""What a registry asks of a batch: rows by template, in the order in which they can be evaluated.

A row reads documents, which are there from the beginning or are published by other subscriptions,
or the partial matches of the row before it. Streams do not go in circles, so rows fall into
rounds: everything that a round reads is made by rounds before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from papers.mmqjp.spark.paths import Pair, Paths
from penstock.planning.records import Asked, JoinOutput, output_of, read_records
from penstock.planning.templates import (
    Alone,
    Edge,
    JoinQuery,
    Place,
    Row,
    Template,
    Term,
    Variable,
    WitnessTree,
)
from penstock.twigs import JoinKind


@dataclass(frozen=True, slots=True)
class Shape:
    """What rows of one template have in common beside it: all but variables and windows.

    Trees are the parents of their places; ``joins`` are pairs of places, left and right.
    ``is_absence`` stands for NOT FOLLOWED BY; the other operators are distances in time.
    """

    is_absence: bool
    left: tuple[int, ...]
    right: tuple[int, ...]
    joins: tuple[Pair, ...]
    terms: tuple[Term, ...]
    kept: tuple[Place, ...]

    @classmethod
    def of(cls, row: Row | Alone) -> Shape:
        """Return the shape of a row; that of a block alone has no right side."""
        if isinstance(row, Alone):
            return cls(False, row.tree.parents, (), (), row.terms, row.kept)
        is_absence = row.kind is JoinKind.NOT_FOLLOWED_BY
        trees = (row.left.parents, row.right.parents)
        return cls(is_absence, *trees, row.joins, row.terms, row.kept)


@dataclass(slots=True)
class Group:
    """Rows that one statement evaluates: a template, and where its left side binds.

    A query of a single block has no template; such blocks are grouped by their shape alone.
    """

    template: Template | None
    is_chained: bool
    rows: dict[int, Row | Alone] = field(default_factory=dict)
    shapes: dict[Shape, int] = field(default_factory=dict)

    def add(self, number: int, row: Row | Alone) -> None:
        """Add a row by its number."""
        self.rows[number] = row
        self.shapes.setdefault(Shape.of(row), len(self.shapes))


@dataclass(slots=True)
class Round:
    """Rows that can be evaluated together."""

    groups: dict[tuple[Template | Shape, bool], Group] = field(default_factory=dict)

    def add(self, number: int, row: Row | Alone) -> None:
        """Add a row by its number."""
        if isinstance(row, Alone):
            group = self.groups.setdefault((Shape.of(row), False), Group(None, False))
        else:
            is_chained = row.left.variables[0].is_partial
            key = (row.template, is_chained)
            group = self.groups.setdefault(key, Group(row.template, is_chained))
        group.add(number, row)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups.values())

    @property
    def rows(self) -> dict[int, Row | Alone]:
        """All rows by their numbers."""
        return {number: row for group in self for number, row in group.rows.items()}


@dataclass(frozen=True, slots=True)
class Subscriber:
    """Who gets the results of a row, and what becomes of them."""

    row: int
    name: str
    output: JoinOutput


class Plan:
    """The rows of all subscriptions in rounds, and the paths that stage 1 looks for.

    Equal rows are one row. ``outputs`` are what subscriptions make of their results, each distinct
    one once, with a number.
    """

    def __init__(self, programs: Mapping[str, bytes]) -> None:
        self._asked = Asked()
        self.rounds: list[Round] = []
        self.subscribers: list[Subscriber] = []
        self.outputs: dict[JoinOutput, int] = {}
        self._numbers: dict[Row | Alone, int] = {}
        self._parts: dict[Row | Alone, int] = {}
        self._ready: dict[str, int] = {}
        """The round from which on a stream is complete, where that is not the first."""
        for name in publishers_first(programs):
            self._add(name, programs[name])
        self.paths = Paths(self._asked.program(), tuple(self._asked.edges))
        self._edges = {pair: number for number, pair in enumerate(self.paths.pairs)}

    def _add(self, name: str, program: bytes) -> None:
        query, output = read_records(program, self._asked)
        last, round_ = self._rows(query)
        self.outputs.setdefault(output, len(self.outputs))
        self.subscribers.append(Subscriber(last, name, output))
        if output.publish is not None:
            self._ready[output.publish] = max(self._ready.get(output.publish, 0), round_ + 1)

    def number(self, variable: Variable) -> int:
        """Return the number of a variable."""
        return self._asked.numbers[variable]

    def edge_number(self, edge: Edge) -> int:
        """Return the number of an edge; no document has those of partial matches."""
        pair = (self.number(edge.upper), self.number(edge.lower))
        return self._edges.setdefault(pair, len(self._edges))

    def _rows(self, query: JoinQuery) -> tuple[int, int]:
        """Add the rows of a query; return the number of its last row, and its round."""
        if query.alone is not None:
            round_ = self._wait_for(query.alone.tree)
            self._parts[query.alone] = 1
            return self._row(query.alone, round_), round_
        round_, parts = self._wait_for(query.rows[0].left), 1
        for number, row in enumerate(query.rows):
            parts += row.kind is not JoinKind.NOT_FOLLOWED_BY
            self._parts[row] = parts
            round_ = max(round_ + (number > 0), self._wait_for(row.right))
            last = self._row(row, round_)
        return last, round_

    def _row(self, row: Row | Alone, round_: int) -> int:
        if row in self._numbers:
            return self._numbers[row]
        number = self._numbers[row] = len(self._numbers)
        while len(self.rounds) <= round_:
            self.rounds.append(Round())
        self.rounds[round_].add(number, row)
        return number

    def _wait_for(self, tree: WitnessTree) -> int:
        if tree.stream is None:
            return max(self._ready.values(), default=0)
        return self._ready.get(tree.stream, 0)

    def parts_of(self, row: Row | Alone) -> int:
        """Return how many documents a result of a row is made of."""
        return self._parts[row]

    def publishes(self, rows: Mapping[int, Row | Alone]) -> bool:
        """Return whether somebody publishes the results of one of these rows."""
        return any(one.output.publish is not None and one.row in rows for one in self.subscribers)


def publishers_first(programs: Mapping[str, bytes]) -> list[str]:
    """Return the names of programs so that who publishes a stream comes before who reads it."""
    outputs = {name: output_of(program) for name, program in programs.items()}
    publishers: dict[str | None, list[str]] = {}
    for name, output in outputs.items():
        if output.publish is not None:
            publishers.setdefault(output.publish, []).append(name)
    ordered: dict[str, None] = {}

    def add(name: str) -> None:
        if name not in ordered:
            for stream in outputs[name].streams:
                for publisher in publishers.get(stream, ()):
                    add(publisher)
            ordered[name] = None

    for name in programs:
        add(name)
    return list(ordered)
