"""The paper's operators for one query, in the order in which they work.

The crate plans by itself (``papers/crate/src/operators``); this tells a reader the same, and a
test holds the two against each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from papers.yfilter.facts import (
    NO_FACTS,
    Facts,
    has_no_duplicates,
    is_in_order,
)
from papers.yfilter.options import BrokerOptions
from penstock.planning.broker.queries import (
    All,
    Brokered,
    Compare,
    Condition,
    Content,
    Element,
    Exists,
    Loop,
    Path,
    Piece,
    Step,
)
from penstock.planning.words import step_text
from penstock.twigs.nodetests import Axis


class Operator(NamedTuple):
    """An operator, as the crate calls it, and what it works on."""

    kind: str
    subject: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.subject}"


def operators_of(
    query: Brokered, options: BrokerOptions, facts: Facts = NO_FACTS
) -> list[Operator]:
    """Return the operators of a query, in the order in which they work; ``keyed`` has none."""
    if options.strategy == "keyed":
        return []
    return [*_Planner(query, options, facts).operators()]


class _Planner:
    def __init__(self, query: Brokered, options: BrokerOptions, facts: Facts) -> None:
        self._query = query
        self._sharing = options.strategy
        self._is_known = options.knowledge != "nothing"
        self._facts = facts if options.knowledge == "schema" else NO_FACTS
        self._binding = tuple(step.step for step in query.binding)
        self._text = _text(self._binding)

    def operators(self) -> Iterator[Operator]:
        is_shared = self._sharing == "shared"
        conditions = [*_conjuncts(self._query.condition)]
        is_path = self._sharing != "f"
        paths = [one for one in conditions if is_path and isinstance(one, Compare | Exists)]
        for path in dict.fromkeys([self._binding, *self._matched(paths)]):
            yield Operator("path-tuple stream", _text(path))
        has_checks = any(step.condition != All() for step in self._query.binding)
        if has_checks:
            yield Operator("selection", f"{self._text}, conditions of its steps")
        # Plans that share joins read their lists, in which each node is there once.
        if not (is_shared and (paths or has_checks)) and not self._is_distinct():
            yield Operator("duplicate elimination (scan)", self._text)
        algorithm = "merge" if self._is_ordered() else "hash"
        for condition in paths:
            subject = self._text + _condition(condition)
            if isinstance(condition, Compare) and not is_shared:
                yield Operator("selection", subject)
            yield Operator(f"{'shared join' if is_shared else 'semijoin'} ({algorithm})", subject)
            if is_shared:
                yield Operator("grouped selection", subject)
        if len(paths) < len(conditions):
            yield Operator("where-filter", "the rest of the condition")
        yield from self._selects(algorithm)
        yield Operator("executor", "groups of lists, in the order of bound nodes")

    def _matched(self, paths: list[Compare | Exists]) -> Iterator[tuple[Step, ...]]:
        """Yield the paths that are matched beside the binding path."""
        for condition in paths:
            yield self._binding + condition.path.steps
        if self._sharing in ("fwr", "shared"):
            for steps in self._returns():
                yield self._binding + steps

    def _selects(self, algorithm: str) -> Iterator[Operator]:
        returned = [self._text + _text(steps) for steps in self._returns()]
        subject = ", ".join(returned) or "bound nodes alone"
        if self._sharing in ("f", "fw"):
            yield Operator("return-select", subject)
            return
        if self._sharing == "shared":
            grouping = "scan" if algorithm == "merge" else "hash"
            for path in returned:
                yield Operator(f"group-by ({grouping})", path)
            return
        removal = "scan" if algorithm == "merge" else "hash"
        for steps, path in zip(self._returns(), returned, strict=True):
            if not self._has_no_pairs(steps):
                yield Operator(f"duplicate elimination ({removal})", path)
        yield Operator(f"outer-join-select ({algorithm})", subject)

    def _returns(self) -> list[tuple[Step, ...]]:
        return [*_paths(self._query.message)]

    def _is_distinct(self) -> bool:
        steps = self._binding
        return self._is_known and has_no_duplicates(_names(steps), self._facts_of(steps))

    def _has_no_pairs(self, steps: tuple[Step, ...]) -> bool:
        if not self._is_known:
            return False
        parts = (self._binding, steps)
        return all(has_no_duplicates(_names(part), self._facts_of(part)) for part in parts)

    def _is_ordered(self) -> bool:
        place = len(self._binding) - 1
        path = _names(self._binding)
        return self._is_known and is_in_order(path, place, self._facts_of(self._binding))

    def _facts_of(self, steps: tuple[Step, ...]) -> Facts:
        """Return what is known of a path: nothing, if a step goes to elements of any name."""
        return NO_FACTS if any(step.test.local is None for step in steps) else self._facts


def _names(steps: tuple[Step, ...]) -> list[tuple[bool, str]]:
    return [(step.axis is Axis.DESCENDANT, step.test.local or "*") for step in steps]


def _text(steps: tuple[Step, ...]) -> str:
    return "".join(step_text(step.axis, step.test) for step in steps)


def _conjuncts(condition: Condition) -> Iterator[Condition]:
    if isinstance(condition, All):
        for part in condition.parts:
            yield from _conjuncts(part)
    else:
        yield condition


def _condition(condition: Condition) -> str:
    assert isinstance(condition, Compare | Exists)
    text = _path(condition.path)
    if isinstance(condition, Exists):
        return text
    constant = condition.constant if condition.is_number else f'"{condition.constant}"'
    return f"{text} {condition.operator} {constant}"


def _path(path: Path) -> str:
    text = _text(path.steps)
    if path.field is None:
        return text
    axis = Axis.ATTRIBUTE if path.field.kind.value == "attribute" else Axis.CHILD
    return text + step_text(axis, path.field)


def _paths(content: Content) -> Iterator[tuple[Step, ...]]:
    """Yield the return paths of a message, in the order in which they are written."""
    match content:
        case Piece(steps=steps) if steps is not None:
            yield steps
        case Loop(content=parts, is_set=False) | Element(content=parts):
            for part in parts:
                yield from _paths(part)
