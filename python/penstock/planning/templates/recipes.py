"""Rows with marks in the place of names and constants, and how a query is made of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, Generic, Protocol, TypeVar

from penstock.languages.xscl import xscl
from penstock.languages.xscl.skeletons import MARK, Role, Skeleton
from penstock.languages.xscl.windows import UNIT_SECONDS, WINDOW_SECONDS_MAX, window_seconds
from penstock.planning.templates.compiling import MICROSECONDS, compile_join, name_partials
from penstock.planning.templates.definitions import Path, normal_form, path_of, variable_of
from penstock.planning.templates.regular import regular_path
from penstock.planning.templates.rows import JoinQuery, Row, WitnessTree
from penstock.planning.templates.variables import LOWER, Edge, Variable
from penstock.twigs import Block, Event, Fragments, Query, TwigNode
from penstock.twigs.blanks import Atom
from penstock.twigs.parts import all_parts, rewrite

Slots = Sequence[str]
T = TypeVar("T", covariant=True)

MADE_MAX = 1_024
"""What one place of a recipe remembers of variables or edges; it starts anew when it is full."""

_NUMBER_MARK = 7_000_000_000
_UNIT = re.compile(r"[ \t\r\n]*([A-Za-z]*)")


def make_recipe(
    skeleton: Skeleton,
    slots: Slots,
    roles: Sequence[Role],
    targets: Mapping[int, int],
    options: Mapping[str, Any] | None,
) -> Recipe:
    """Return the recipe of a skeleton; ``targets`` gives the binding of each reference."""
    marks = [
        _mark(targets.get(number, number), slot, role)
        for number, (slot, role) in enumerate(zip(slots, roles, strict=True))
    ]
    pieces = zip(marks, skeleton[1:], strict=True)
    text = skeleton[0] + "".join(mark + piece for mark, piece in pieces)
    marked = compile_join(xscl(text, **(options or {})), form=lambda path: path)
    windows = [
        (number, UNIT_SECONDS.get(_unit(skeleton[number + 1]), 1.0))
        for number, role in enumerate(roles)
        if role is Role.WINDOW
    ]
    return Recipe(marked, windows)


class Recipe:
    """Makes the rows of every text of one skeleton whose variables refer to each other alike.

    ``windows`` are the slots of the operators' windows with the seconds of their units.
    """

    def __init__(self, marked: JoinQuery, windows: Iterable[tuple[int, float]]) -> None:
        self._marked = marked
        self._alone = None if marked.alone is None else _TreeRecipe(marked.alone.tree)
        self._trees = [(_TreeRecipe(row.left), _TreeRecipe(row.right)) for row in marked.rows]
        waiting = iter(windows)
        self._windows = [None if r.window_us is None else next(waiting) for r in marked.rows]

    def fill(self, slots: Slots) -> JoinQuery | None:
        """Return the rows of a text by its slots, or None if a window is too long."""
        event = self._fill_event(slots)
        if self._alone is not None:
            assert self._marked.alone is not None
            tree = self._alone.fill(slots, None)
            return JoinQuery((), event, replace(self._marked.alone, tree=tree))
        rows: list[Row] = []
        partials = None
        for row, trees, window in zip(self._marked.rows, self._trees, self._windows, strict=True):
            seconds = 0.0 if window is None else window_seconds(slots[window[0]], window[1])
            if seconds > WINDOW_SECONDS_MAX:
                return None
            filled = Row(
                row.template,
                row.kind,
                None if window is None else round(seconds * MICROSECONDS),
                trees[0].fill(slots, partials),
                trees[1].fill(slots, None),
                row.terms,
                row.kept,
            )
            if row.output is not None:
                partials = name_partials(filled)
                filled = replace(filled, output=partials)
            rows.append(filled)
        return JoinQuery(tuple(rows), event)

    def _fill_event(self, slots: Slots) -> Event:
        event = self._marked.event
        select = tuple([_plain(name, slots) for name in event.select])
        publish = None if event.publish is None else _plain(event.publish, slots)
        return Event(select, publish)


class _TreeRecipe:
    def __init__(self, tree: WitnessTree) -> None:
        self._tree = tree
        self._variables: list[_Maker[Variable]] = []
        self._edges: list[_Maker[Edge]] = []
        if not tree.variables[0].is_partial:
            self._variables = [_Maker(_VariableRecipe(one)) for one in tree.variables]
            self._edges = [_Maker(_EdgeRecipe(one)) for one in tree.edges]

    def fill(self, slots: Slots, partials: str | None) -> WitnessTree:
        """Return the tree of a text; one over partial matches only gets their stream."""
        tree = self._tree
        if partials is not None:
            return _over_partials(tree, partials)
        return WitnessTree(
            None if tree.stream is None else _plain(tree.stream, slots),
            tuple([maker.make(slots) for maker in self._variables]),
            tree.parents,
            tuple([maker.make(slots) for maker in self._edges]),
            tree.slots,
            tree.valued,
        )


def _over_partials(tree: WitnessTree, stream: str) -> WitnessTree:
    def moved(edge: Edge) -> Edge:
        return Edge(Variable(stream, edge.upper.key), Variable(stream, edge.lower.key))

    return replace(
        tree,
        stream=stream,
        variables=tuple(Variable(stream, one.key) for one in tree.variables),
        edges=tuple(map(moved, tree.edges)),
    )


class _VariableRecipe:
    """A variable whose stream and path have marks; ``numbers`` are the slots that it needs."""

    def __init__(self, marked: Variable) -> None:
        self._marked = marked
        self.numbers = _marks_in(marked.alternatives, marked.constants)
        if marked.stream is not None and marked.stream.startswith(MARK):
            self.numbers.add(int(marked.stream[1:]))

    def make(self, slots: Slots) -> Variable:
        """Return the variable of a text."""
        marked = self._marked
        stream = None if marked.stream is None else _plain(marked.stream, slots)
        return variable_of(stream, *_fill_path(marked.alternatives, marked.constants, slots))


class _EdgeRecipe:
    """An edge with marks; ``numbers`` are the slots that it needs."""

    def __init__(self, marked: Edge) -> None:
        self._marked = marked
        self._upper, self._lower = _VariableRecipe(marked.upper), _VariableRecipe(marked.lower)
        self.numbers = self._upper.numbers | self._lower.numbers

    def make(self, slots: Slots) -> Edge:
        """Return the edge of a text."""
        path = _fill_path(self._marked.alternatives, self._marked.constants, slots)
        return Edge(self._upper.make(slots), self._lower.make(slots), *path)


class _Making(Protocol[T]):
    numbers: set[int]

    def make(self, slots: Slots) -> T:
        """Return what belongs to these slots."""


class _Maker(Generic[T]):
    """Remembers what was made, by the slots that it depends on."""

    def __init__(self, recipe: _Making[T]) -> None:
        self._recipe = recipe
        numbers = sorted(recipe.numbers)
        self._key: Callable[[Slots], Any] = itemgetter(*numbers) if numbers else _no_slots
        self._made: dict[Any, T] = {}

    def make(self, slots: Slots) -> T:
        """Return what belongs to these slots."""
        key = self._key(slots)
        found = self._made.get(key)
        if found is None:
            if len(self._made) >= MADE_MAX:
                self._made.clear()
            found = self._made[key] = self._recipe.make(slots)
        return found


def _no_slots(slots: Slots) -> None:
    return None


def _fill_path(twigs: tuple[TwigNode, ...], constants: tuple[Atom, ...], slots: Slots) -> Path:
    """Return a path with its own names and constants, in normal form."""
    values = [_constant(value, slots) for value in constants]

    def fill(node: TwigNode) -> TwigNode:
        local = node.test.local
        if local is None or not local.startswith(MARK):
            return node
        return replace(node, test=replace(node.test, local=slots[int(local[1:])]))

    filled = tuple(rewrite(twig, {TwigNode: fill}) for twig in twigs)
    regular = regular_path(filled[0]) if len(filled) == 1 else None
    if regular is not None:
        return (regular,), ()
    return path_of(normal_form(Query((Block(filled),), Fragments(LOWER), tuple(values))))


def _marks_in(twigs: tuple[TwigNode, ...], constants: tuple[Atom, ...]) -> set[int]:
    names = [part.test.local for part in all_parts(*twigs) if isinstance(part, TwigNode)]
    marks = [_number_of(value) for value in (*filter(None, names), *constants)]
    return {number for number in marks if number is not None}


def _mark(number: int, slot: str, role: Role) -> str:
    """Return what stands for a slot in the text with marks."""
    if role is Role.WINDOW:
        return slot
    if slot[0] in "\"'":
        return f"'{MARK}{number}'"
    return str(_NUMBER_MARK + number) if role is Role.CONSTANT else f"{MARK}{number}"


def _number_of(constant: Atom) -> int | None:
    """Return the slot that a constant is the mark of, if it is one."""
    if isinstance(constant, str):
        return int(constant[1:]) if constant.startswith(MARK) else None
    return None if constant < _NUMBER_MARK else int(constant) - _NUMBER_MARK


def _constant(marked: Atom, slots: Slots) -> Atom:
    number = _number_of(marked)
    if number is None:
        return marked
    slot = slots[number]
    return slot[1:-1] if slot[0] in "\"'" else float(slot)


def _plain(marked: str, slots: Slots) -> str:
    """Return the name that a mark stands for; any other name as it is."""
    if not marked.startswith(MARK):
        return marked
    slot = slots[int(marked[1:])]
    return slot[1:-1] if slot[0] in "\"'" else slot


def _unit(piece: str) -> str:
    found = _UNIT.match(piece)
    assert found is not None, "the pattern matches nothing, too"
    return found[1]
