"""From programs back to compiled queries, for joins that are not the native ones."""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.program import Request
from penstock.planning.records.asking import Asked
from penstock.planning.records.codes import ALONE, FOREVER_US, KINDS, NONE, OPERATORS
from penstock.planning.records.encoding import ByteReader
from penstock.planning.records.outputs import JoinOutput
from penstock.planning.templates import (
    LEFT,
    RIGHT,
    TOP,
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

_KINDS = {code: kind for kind, code in KINDS.items()}
_OPERATORS = {code: operator for operator, code in OPERATORS.items()}


def read_records(program: bytes, asked: Asked) -> tuple[JoinQuery, JoinOutput]:
    """Return the compiled query that a program was written of, and what becomes of its results.

    Variables and edges are known by their keys: their paths, and what is needed of their nodes,
    are added to ``asked``.
    """
    reader = ByteReader(program, len(Request.RECORDS.head))
    output = JoinOutput.read(reader)
    variables = reader.many(lambda: _variable(reader, asked))
    reader.many(lambda: _edge(reader, variables, asked))
    templates = reader.many(lambda: _template(reader.numbers()))
    rows = reader.many(lambda: _row(_Words(reader.numbers()), variables, templates))
    if isinstance(rows[0], Alone):
        return JoinQuery((), output.event, rows[0]), output
    return JoinQuery(tuple(row for row in rows if isinstance(row, Row)), output.event), output


def _variable(reader: ByteReader, asked: Asked) -> Variable:
    variable = Variable(reader.optional(), reader.string())
    asked.need(asked.admit(variable, reader.counted()), reader.number())
    return variable


def _edge(reader: ByteReader, variables: list[Variable], asked: Asked) -> None:
    upper, lower = (asked.numbers[variables[reader.number()]] for _ in range(2))
    asked.ask(upper, lower, reader.counted(), reader.numbers())


class _Words:
    """Words, taken from the first to the last."""

    def __init__(self, words: list[int]) -> None:
        self._words = iter(words)

    def take(self) -> int:
        return next(self._words)

    def many(self) -> list[int]:
        """Take as many as the first of them says."""
        return self.some(self.take())

    def some(self, count: int) -> list[int]:
        return [next(self._words) for _ in range(count)]

    def pairs(self, count: int) -> tuple[tuple[int, int], ...]:
        return tuple((self.take(), self.take()) for _ in range(count))


def _template(words: list[int]) -> Template | None:
    if not words:
        return None
    rest = _Words(words)
    left, right = (tuple(parent - 1 for parent in rest.many()) for _ in (LEFT, RIGHT))
    joins = (len(words) - len(left) - len(right) - 2) // 2
    return Template(left, right, rest.pairs(joins))


def _row(words: _Words, variables: list[Variable], templates: list[Template | None]) -> Row | Alone:
    kind, template = words.take(), templates[words.take()]
    window = words.take() | words.take() << 32
    left, right = _tree(words, variables), _tree(words, variables)
    joins = words.pairs(words.take())

    def place(slot: int) -> Place:
        count = len(left.variables)
        return Place(LEFT, slot) if slot < count else Place(RIGHT, slot - count)

    terms = tuple(
        Term(place(words.take()), _OPERATORS[words.take()], place(words.take()))
        for _ in range(words.take())
    )
    kept = tuple(map(place, words.many()))
    output = words.many()
    if template is None:
        assert kind == ALONE, "only a block by itself joins nothing"
        return Alone(left, terms, kept)
    joined = list(zip(template.joins, joins, strict=True))
    return Row(
        template,
        _KINDS[kind],
        None if window == FOREVER_US else window,
        _with_slots(left, template.left, {slot[LEFT]: at[LEFT] for slot, at in joined}),
        _with_slots(right, template.right, {slot[RIGHT]: at[RIGHT] for slot, at in joined}),
        terms,
        kept,
        variables[output[0]].stream if output else None,
    )


def _tree(words: _Words, variables: list[Variable]) -> WitnessTree:
    """Return a tree without its slots."""
    count = words.take()
    bound = tuple(variables[number] for number in words.some(count))
    parents = tuple(TOP if parent == NONE else parent for parent in words.some(count))
    edges = [Edge(bound[up], low) for up, low in zip(parents, bound, strict=True) if up != TOP]
    stream = bound[0].stream if bound else None
    return WitnessTree(stream, bound, parents, tuple(edges), (), ())


def _with_slots(
    tree: WitnessTree, template: tuple[int, ...], joining: dict[int, int]
) -> WitnessTree:
    """Return a tree with the places of its template's slots, by the places of those that join."""
    places = dict(joining)
    for slot in reversed(range(len(template))):
        if slot not in places:
            # Others are the lowest common ancestors of what is below them; parents come first.
            below = {places[child] for child, parent in enumerate(template) if parent == slot}
            while len(below) > 1:
                deepest = max(below)
                below = below - {deepest} | {tree.parents[deepest]}
            (places[slot],) = below
    return replace(tree, slots=tuple(places[slot] for slot in range(len(template))))
