"""What the variables of a block mean: paths with all their conditions, and the edges between them.

The condition of a node on a path is its own, and that every branch below it matches which the
path does not follow and which the minor drops. See ``variables`` for the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import lru_cache

from penstock.planning.normalise import normalise_twigs, too_entangled
from penstock.planning.rewrites.slot_numbers import number_slots
from penstock.planning.templates.regular import prepend, regular_step
from penstock.planning.templates.shapes import TOP
from penstock.planning.templates.variables import LOWER, UPPER, Edge, Variable
from penstock.twigs import Block, Branch, Condition, Fragments, Query, Slot, TwigNode
from penstock.twigs.blanks import Atom
from penstock.twigs.expression_printing import print_path
from penstock.twigs.logic import conjunction, existence
from penstock.twigs.queries import NoTwigError

Form = Callable[[Query], Query]

PATHS_MAX = 2_048
"""Paths whose normal form is remembered; regular ones are not among them."""

Path = tuple[tuple[TwigNode, ...], tuple[Atom, ...]]
"""The alternatives of a path, and their constants."""


class Definitions:
    """The twig of a block as numbered nodes, parents first, and what each of them means.

    ``joining`` are the variables that the operator joins, ``form`` brings a path into its form.
    """

    def __init__(self, query: Query, block: Block, joining: Collection[str], form: Form) -> None:
        assert len(block.alternatives) == 1, "only a normal form splits a twig"
        self._query = query
        self._form = form
        self.stream = block.stream
        self._twigs: list[TwigNode] = []
        self.parents: list[int] = []
        self.nodes: dict[str, int] = {}
        self._number(block.alternatives[0], TOP)
        self._is_kept = [False] * len(self._twigs)
        for variable in joining:
            node = self.nodes[variable]
            while node != TOP and not self._is_kept[node]:
                self._is_kept[node] = True
                node = self.parents[node]
        self._children: list[list[int]] = [[] for _ in self._twigs]
        for node, parent in enumerate(self.parents):
            if parent != TOP:
                self._children[parent].append(node)
        self._variables: dict[int, Variable] = {}
        self._edges: dict[tuple[int, int], Edge] = {}
        self._steps: dict[tuple[int, int], TwigNode | None] = {}

    def variable(self, node: int) -> Variable:
        """Return the canonical variable of a node."""
        if node not in self._variables:
            path = self._normal_path(node, {node: LOWER})
            self._variables[node] = variable_of(self.stream, *path)
        return self._variables[node]

    def edge(self, upper: int, lower: int) -> Edge:
        """Return the edge between two nodes, one above the other."""
        pair = (upper, lower)
        if pair not in self._edges:
            path = self._normal_path(lower, {upper: UPPER, lower: LOWER})
            self._edges[pair] = Edge(self.variable(upper), self.variable(lower), *path)
        return self._edges[pair]

    def _normal_path(self, node: int, marks: dict[int, str]) -> Path:
        regular = self._regular_path(node, marks) if self._form is normal_form else None
        if regular is not None:
            return (regular,), ()
        return path_of(self._form(self._path(node, marks)))

    def _regular_path(self, node: int, marks: dict[int, str]) -> TwigNode | None:
        """Return the path to a node in normal form, if it is a regular one."""
        path: TwigNode | None = None
        followed = TOP
        while node != TOP:
            step = self._regular_step(node, followed)
            path = None if step is None else prepend(step, path, marks.get(node))
            if path is None:
                return None
            followed, node = node, self.parents[node]
        return path

    def _regular_step(self, node: int, followed: int) -> TwigNode | None:
        # What is followed and kept is no condition of any path.
        key = (node, TOP if followed == TOP or self._is_kept[followed] else followed)
        if key not in self._steps:
            self._steps[key] = regular_step(self._twigs[node], self._where(node, followed))
        return self._steps[key]

    def _where(self, node: int, followed: int) -> Condition:
        """Return the condition of a node on the path through one of its children."""
        dropped = [
            existence(self._twigs[child])
            for child in self._children[node]
            if child != followed and not self._is_kept[child]
        ]
        return conjunction(self._twigs[node].where, *dropped)

    def _number(self, twig: TwigNode, parent: int) -> None:
        node = len(self._twigs)
        self._twigs.append(twig)
        self.parents.append(parent)
        if twig.variable is not None:
            self.nodes[twig.variable] = node
        for branch in twig.branches:
            self._number(branch.node, node)

    def _path(self, node: int, marks: dict[int, str]) -> Query:
        """Return the path to a node as a query, its nodes bound by ``marks``."""
        path: TwigNode | None = None
        followed = TOP
        while node != TOP:
            twig = self._twigs[node]
            where = self._where(node, followed)
            below = () if path is None else (Branch(path),)
            path = TwigNode(twig.axis, twig.test, where, marks.get(node), below)
            followed, node = node, self.parents[node]
        assert path is not None
        return number_slots(
            replace(
                self._query, blocks=(Block((path,)),), output=Fragments(LOWER), joins=(), options={}
            )
        )


@lru_cache(PATHS_MAX)
def normal_form(path: Query) -> Query:
    """Return a path in normal form; equal paths are worked on once.

    Raises:
        QueryError: The normal form would be too large.
    """
    try:
        return normalise_twigs(path)
    except NoTwigError:
        raise too_entangled(path) from None


def path_of(query: Query) -> Path:
    """Return the path that a query is."""
    return query.blocks[0].alternatives, query.constants


def variable_of(
    stream: str | None, alternatives: tuple[TwigNode, ...], constants: tuple[Atom, ...]
) -> Variable:
    """Return the variable of a path."""

    def constant(slot: Slot) -> str:
        return repr(constants[slot.index])

    key = " | ".join(print_path(twig, constant) for twig in alternatives)
    return Variable(stream, key, alternatives, constants)
