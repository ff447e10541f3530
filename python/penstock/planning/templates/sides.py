"""One side of an operator: its witness tree and the minor inside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from penstock.planning.templates.minors import reduce_tree
from penstock.planning.templates.rows import WitnessTree
from penstock.planning.templates.shapes import TOP
from penstock.planning.templates.variables import MATCH, Edge, Variable


class Source(Protocol):
    """Where a side binds: the documents of a block, or partial matches.

    ``parents`` is a tree of nodes, parents first; ``nodes`` gives the node of each variable.
    """

    stream: str | None
    parents: list[int]
    nodes: dict[str, int]

    def variable(self, node: int) -> Variable:
        """Return the canonical variable of a node."""

    def edge(self, upper: int, lower: int) -> Edge:
        """Return the edge between two nodes, one above the other."""


class Partials:
    """The partial matches of a row: one node for the match, and below it one for each name."""

    def __init__(self, stream: str, names: Sequence[str]) -> None:
        self.stream: str | None = stream
        self.parents = [TOP, *[0] * len(names)]
        self.nodes = {name: node for node, name in enumerate(names, start=1)}

    def variable(self, node: int) -> Variable:
        """Return the variable of the match itself, or of a kept place by its number from 1."""
        return Variable(self.stream, str(node) if node else MATCH)

    def edge(self, upper: int, lower: int) -> Edge:
        """Return the edge from the match to a kept place."""
        return Edge(self.variable(upper), self.variable(lower))


class Side:
    """The nodes of a source that an operator needs, reduced twice.

    ``joining`` are the variables that its value joins compare, ``valued`` those whose string
    values it needs, ``kept`` those that go on.
    """

    def __init__(
        self,
        source: Source,
        joining: Iterable[str],
        valued: Iterable[str],
        kept: Iterable[str],
    ) -> None:
        self._source = source
        joined = {source.nodes[name] for name in joining}
        self._valued = joined | {source.nodes[name] for name in valued}
        wanted = self._valued | {source.nodes[name] for name in kept}
        # Where nothing is wanted of a block, it still has to match: its top stands for that.
        self._nodes, self._parents = reduce_tree(source.parents, wanted or {0})
        self._minor, minor_parents = reduce_tree(source.parents, joined)
        self.minor_parents = tuple(minor_parents)

    def place(self, name: str) -> int:
        """Return the place of a variable in the witness tree."""
        return self._nodes.index(self._source.nodes[name])

    def minor_place(self, name: str) -> int:
        """Return the place of a variable in the minor."""
        return self._minor.index(self._source.nodes[name])

    def tree(self, order: Sequence[int] = ()) -> WitnessTree:
        """Return the witness tree, its slots in the order of the template's."""
        source, nodes = self._source, self._nodes
        edges = zip(self._parents, nodes, strict=True)
        slots = [self._minor[place] for place in order]
        return WitnessTree(
            source.stream,
            tuple(source.variable(node) for node in nodes),
            tuple(self._parents),
            tuple(source.edge(nodes[up], node) for up, node in edges if up != TOP),
            tuple(nodes.index(node) for node in slots),
            tuple(place for place, node in enumerate(nodes) if node in self._valued),
        )
