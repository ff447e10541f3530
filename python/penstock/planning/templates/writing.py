"""From compiled queries to what documents are asked for, and to rows of numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple, Protocol

from penstock.planning.compile import compile_paths
from penstock.planning.templates import (
    LEFT,
    TOP,
    UPPER,
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
from penstock.twigs import JoinKind, TwigNode

NONE = 0xFFFF_FFFF
_FOREVER_US = (1 << 63) - 1
_KINDS = {
    JoinKind.JOIN: 0,
    JoinKind.FOLLOWED_BY: 1,
    JoinKind.NOT_FOLLOWED_BY: 2,
    JoinKind.MEET: 3,
}
_ALONE = 4
_OPERATORS = {"=": 0, "!=": 1, "<": 2, "<=": 3, ">": 4, ">=": 5}
_MATCH = "match"


class Need(NamedTuple):
    """What is needed of a variable's nodes: their string values, their texts."""

    is_valued: bool
    is_selected: bool

    def and_also(self, other: Need) -> Need:
        """Return what is needed where both are needed."""
        return Need(self.is_valued or other.is_valued, self.is_selected or other.is_selected)


_NOTHING = Need(False, False)
_VALUED = Need(True, False)
_SELECTED = Need(False, True)


class Asked(Protocol):
    """What is told which variables and edges stage 1 has to find."""

    @property
    def variable(self) -> Callable[[str | None, str], int]:
        """Admits a variable by its stream and its key, and returns its number."""

    @property
    def lead(self) -> Callable[[int, bytes], None]:
        """Gives a variable its paths."""

    @property
    def need(self) -> Callable[[int, bool, bool], None]:
        """Says whether a variable's values and texts are needed."""

    @property
    def edge(self) -> Callable[[int, int, bytes, list[int]], None]:
        """Asks for the pairs of two variables; without a program, on the paths of the lower."""


class Asking:
    """Asks for what queries need of documents, each distinct variable and edge once."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self.numbers: dict[Variable, int] = {}
        self._edges: set[tuple[int, int]] = set()
        self._needs: dict[int, Need] = {}

    def ask(self, query: JoinQuery) -> None:
        """Ask for what a query needs.

        Raises:
            QueryError: A condition needs something that the kernel does not evaluate yet.
        """
        if query.alone is not None:
            self._ask_alone(query.alone)
        # What a row needs of a partial match, the row before it needs of what it keeps.
        needs = [_SELECTED] * len(query.event.select)
        for row in reversed(query.rows):
            needs = self._ask(row, needs)

    def _ask(self, row: Row, kept: Sequence[Need]) -> list[Need]:
        """Ask for what a row needs of its variables; return what it needs of partial matches."""
        before: dict[int, Need] = {}
        for side, tree in enumerate((row.left, row.right)):
            for place, need in _needs(tree, side, row.kept, kept).items():
                variable = tree.variables[place]
                if not variable.is_partial:
                    self._need(variable, need)
                elif variable.key != _MATCH:
                    before[int(variable.key) - 1] = need
            for edge in tree.edges:
                self.edge(edge)
        return [before.get(place, _NOTHING) for place in range(max(before, default=-1) + 1)]

    def _ask_alone(self, alone: Alone) -> None:
        for place, need in _needs(
            alone.tree, LEFT, alone.kept, [_SELECTED] * len(alone.kept)
        ).items():
            self._need(alone.tree.variables[place], need)
        for edge in alone.tree.edges:
            self.edge(edge)

    def number(self, variable: Variable) -> int:
        """Return the number of a variable."""
        number = self.numbers.get(variable)
        if number is None:
            number = self._asked.variable(variable.stream, variable.key)
            self.numbers[variable] = number
            if variable.alternatives:
                program = compile_paths(variable.alternatives, variable.constants)
                self._asked.lead(number, program)
        return number

    def _need(self, variable: Variable, need: Need) -> None:
        number = self.number(variable)
        before = self._needs.get(number, _NOTHING)
        if before.and_also(need) != before:
            self._needs[number] = before.and_also(need)
            self._asked.need(number, need.is_valued, need.is_selected)

    def edge(self, edge: Edge) -> None:
        """Ask for an edge between variables of documents."""
        pair = (self.number(edge.upper), self.number(edge.lower))
        if pair in self._edges or not edge.alternatives:
            return
        self._edges.add(pair)
        program = b""
        if not _is_path_of_lower(edge):
            program = compile_paths(edge.alternatives, edge.constants)
        self._asked.edge(*pair, program, [_depth_of_upper(twig) for twig in edge.alternatives])


class RowWriter(Asking):
    """Writes the rows of a query as words, beside asking for what they need."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        self.templates: dict[Template | None, int] = {}

    def rows(self, query: JoinQuery) -> list[list[int]]:
        """Return the rows of a query.

        Raises:
            QueryError: A condition needs something that the kernel does not evaluate yet.
        """
        self.ask(query)
        if query.alone is not None:
            return [self._alone(query.alone)]
        return [self._row(row) for row in query.rows]

    def _template(self, template: Template | None) -> int:
        return self.templates.setdefault(template, len(self.templates))

    def _alone(self, alone: Alone) -> list[int]:
        left = len(alone.tree.variables)
        words = [_ALONE, self._template(None), 0, 0, *self._tree_words(alone.tree), 0, 0]
        return words + _terms(alone.terms, left) + _kept(alone.kept, left) + [0]

    def _row(self, row: Row) -> list[int]:
        left = len(row.left.variables)
        window = _FOREVER_US if row.window_us is None else row.window_us
        joins = [(row.left.slots[one], row.right.slots[other]) for one, other in row.template.joins]
        output = []
        if row.output is not None:
            keys = [_MATCH, *(str(place) for place in range(1, len(row.kept) + 1))]
            output = [self.number(Variable(row.output, key)) for key in keys]
        return [
            _KINDS[row.kind],
            self._template(row.template),
            window & NONE,
            window >> 32,
            *self._tree_words(row.left),
            *self._tree_words(row.right),
            len(joins),
            *chain.from_iterable(joins),
            *_terms(row.terms, left),
            *_kept(row.kept, left),
            len(output),
            *output,
        ]

    def _tree_words(self, tree: WitnessTree) -> list[int]:
        parents = [NONE if parent == TOP else parent for parent in tree.parents]
        variables = [self.number(variable) for variable in tree.variables]
        return [len(variables), *variables, *parents]


def _needs(
    tree: WitnessTree, side: int, kept: Sequence[Place], kept_needs: Sequence[Need]
) -> dict[int, Need]:
    """Return what is needed at the places of a tree, by its row and by whatever comes after."""
    needs = dict.fromkeys(tree.valued, _VALUED)
    for place, need in zip(kept, kept_needs, strict=False):
        if place.side == side:
            needs[place.place] = needs.get(place.place, _NOTHING).and_also(need)
    return needs


def _is_path_of_lower(edge: Edge) -> bool:
    """Whether the edge's path is that of its lower variable, but for the upper one's mark."""
    lower = edge.lower
    if edge.constants != lower.constants or len(edge.alternatives) != len(lower.alternatives):
        return False
    return all(map(_is_same_path, edge.alternatives, lower.alternatives))


def _is_same_path(one: TwigNode | None, other: TwigNode | None) -> bool:
    while one is not None and other is not None:
        if one.axis is not other.axis or one.test != other.test or one.where != other.where:
            return False
        one, other = (node.branches[0].node if node.branches else None for node in (one, other))
    return one is other


def _depth_of_upper(twig: TwigNode) -> int:
    depth = 0
    while twig.variable != UPPER:
        (branch,) = twig.branches
        twig = branch.node
        depth += 1
    return depth


def _terms(terms: tuple[Term, ...], left: int) -> list[int]:
    words = [len(terms)]
    for term in terms:
        words += [_slot(term.left, left), _OPERATORS[term.operator], _slot(term.right, left)]
    return words


def _kept(kept: tuple[Place, ...], left: int) -> list[int]:
    return [len(kept), *(_slot(place, left) for place in kept)]


def _slot(place: Place, left: int) -> int:
    return place.place if place.side == LEFT else left + place.place
