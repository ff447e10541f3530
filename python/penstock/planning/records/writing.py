"""From compiled queries to programs: what documents are asked for, and rows of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from penstock.planning.compile import compile_paths
from penstock.planning.records.asking import Asked
from penstock.planning.records.codes import (
    ALONE,
    FOREVER_US,
    KINDS,
    NONE,
    OPERATORS,
    SELECTED,
    VALUED,
)
from penstock.planning.records.outputs import JoinOutput
from penstock.planning.templates import (
    LEFT,
    MATCH,
    RIGHT,
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
from penstock.twigs import TwigNode


def write_records(query: JoinQuery, is_node: bool = False) -> bytes:
    """Return the program of a compiled query; the results of one that ``is_node`` are its nodes.

    Raises:
        QueryError: A condition needs something that the kernel does not evaluate yet.
    """
    return _Writer().program(query, JoinOutput.of(query, is_node))


class _Writer:
    """Asks for what a query needs of documents, and numbers its rows."""

    def __init__(self) -> None:
        self._asked = Asked()
        self._templates: dict[Template | None, int] = {}

    def program(self, query: JoinQuery, output: JoinOutput) -> bytes:
        self._ask(query)
        rows = [self._row(row) for row in query.rows]
        if query.alone is not None:
            rows = [self._alone(query.alone)]
        templates = map(_template_words, self._templates)
        return self._asked.program(output.write(), templates, rows)

    def _ask(self, query: JoinQuery) -> None:
        if query.alone is not None:
            kept = query.alone.kept
            self._need(query.alone.tree, LEFT, kept, dict.fromkeys(range(len(kept)), SELECTED))
        # What a row needs of a partial match, the row before it needs of what it keeps.
        needs = dict.fromkeys(range(len(query.event.select)), SELECTED)
        for row in reversed(query.rows):
            left = self._need(row.left, LEFT, row.kept, needs)
            needs = left | self._need(row.right, RIGHT, row.kept, needs)

    def _need(
        self, tree: WitnessTree, side: int, kept: tuple[Place, ...], needs: Mapping[int, int]
    ) -> dict[int, int]:
        """Ask for what is needed of a tree; return what is needed of partial matches.

        ``needs`` says what is needed of kept places, by their numbers; so does the result.
        """
        needed = dict.fromkeys(tree.valued, VALUED)
        for number, place in enumerate(kept):
            if place.side == side:
                needed[place.place] = needed.get(place.place, 0) | needs.get(number, 0)
        before = {}
        for at, need in needed.items():
            variable = tree.variables[at]
            if not variable.is_partial:
                self._asked.need(self._number(variable), need)
            elif variable.key != MATCH:
                before[int(variable.key) - 1] = need
        for edge in tree.edges:
            if edge.alternatives:
                # Most edges lie on the paths of their lower variables.
                patterns = b"" if _is_path_of_lower(edge) else _patterns(edge)
                depths = [_depth_of_upper(twig) for twig in edge.alternatives]
                pair = (self._number(edge.upper), self._number(edge.lower))
                self._asked.ask(*pair, patterns, depths)
        return before

    def _number(self, variable: Variable) -> int:
        number = self._asked.numbers.get(variable)
        return self._asked.admit(variable, _patterns(variable)) if number is None else number

    def _template(self, template: Template | None) -> int:
        return self._templates.setdefault(template, len(self._templates))

    def _alone(self, alone: Alone) -> list[int]:
        left = len(alone.tree.variables)
        words = [ALONE, self._template(None), 0, 0, *self._tree_words(alone.tree), 0, 0]
        return words + _terms(alone.terms, left) + _kept(alone.kept, left) + [0]

    def _row(self, row: Row) -> list[int]:
        left = len(row.left.variables)
        window = FOREVER_US if row.window_us is None else row.window_us
        output = []
        if row.output is not None:
            keys = [MATCH, *(str(place) for place in range(1, len(row.kept) + 1))]
            output = [self._number(Variable(row.output, key)) for key in keys]
        return [
            KINDS[row.kind],
            self._template(row.template),
            window & NONE,
            window >> 32,
            *self._tree_words(row.left),
            *self._tree_words(row.right),
            len(row.joins),
            *chain.from_iterable(row.joins),
            *_terms(row.terms, left),
            *_kept(row.kept, left),
            len(output),
            *output,
        ]

    def _tree_words(self, tree: WitnessTree) -> list[int]:
        parents = [NONE if parent == TOP else parent for parent in tree.parents]
        variables = [self._number(variable) for variable in tree.variables]
        return [len(variables), *variables, *parents]


def _patterns(path: Variable | Edge) -> bytes:
    """Return the patterns of a variable or an edge; nothing where nothing can match."""
    return compile_paths(path.alternatives, path.constants) if path.alternatives else b""


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


def _template_words(template: Template | None) -> list[int]:
    """Return a template as words: parents, from one on, and pairs."""
    if template is None:
        return []
    sides = [
        [len(side), *(parent + 1 for parent in side)] for side in (template.left, template.right)
    ]
    return [*chain(*sides), *chain(*template.joins)]


def _terms(terms: tuple[Term, ...], left: int) -> list[int]:
    words = [len(terms)]
    for term in terms:
        words += [_slot(term.left, left), OPERATORS[term.operator], _slot(term.right, left)]
    return words


def _kept(kept: tuple[Place, ...], left: int) -> list[int]:
    return [len(kept), *(_slot(place, left) for place in kept)]


def _slot(place: Place, left: int) -> int:
    return place.place if place.side == LEFT else left + place.place
