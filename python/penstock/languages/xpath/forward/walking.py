"""The walk along a path, step by step, with every alternative that the rules open."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.languages.xpath.forward.alternatives import (
    ANY_TEST,
    REVERSE,
    Alternative,
    exists,
    on,
)
from penstock.languages.xpath.forward.ancestor_conditions import require_ancestor
from penstock.languages.xpath.forward.ancestor_steps import climb_to_ancestors
from penstock.languages.xpath.forward.disjunctions import Disjunct, cases_of, conjoin
from penstock.languages.xpath.forward.parent_conditions import require_parent
from penstock.languages.xpath.forward.parent_steps import climb_to_parents
from penstock.languages.xpath.scopes import Scope
from penstock.languages.xpath.syntax import Expression, Step
from penstock.twigs import Axis
from penstock.twigs.nodetests import BELOW
from penstock.twigs.queries import NoTwigError
from penstock.twigs.subforms.reach import FORWARD

T = TypeVar("T", Alternative, Disjunct)

ALTERNATIVES_MAX = 8
"""Forward paths that one path, and cases that one predicate, may be split into."""

STEPS_MAX = 2_000
"""Steps that are made on the way, in all alternatives of a query."""


class Walk:
    """Follows the paths of one query; the rules come back to it for the paths that they open."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.steps = 0

    def follow(self, start: Alternative, steps: tuple[Step, ...]) -> list[Alternative]:
        """Return the forward paths that steps from the end of a path amount to.

        Raises:
            NoTwigError: A step follows document order, or there are too many alternatives.
        """
        steps = _with_two_slashes_joined(steps)
        paths = [start]
        for index, step in enumerate(steps):
            found = []
            for path in paths:
                if path.has_left:
                    found.append(path)
                elif step.axis in REVERSE:
                    found += self.climb(path, step, steps[index + 1 :])
                else:
                    found += self.add(path, step)
            paths = bounded(found)
        return paths

    def add(self, path: Alternative, step: Step) -> list[Alternative]:
        """Return a path with one more forward step, by the cases of its predicates."""
        self.steps += 1
        if step.axis not in FORWARD or self.steps > STEPS_MAX:
            raise NoTwigError("a path follows document order, or has too many alternatives")
        if step.axis is Axis.SELF and not path.is_met_by(step):
            return []
        found = []
        for case in self.cases(step.predicates):
            paths = [path.then(replace(step, predicates=case.conditions))]
            for up in case.ups:
                paths = [higher for one in paths for higher in self.require(one, up)]
            found += paths
        return bounded(found)

    def climb(self, path: Alternative, up: Step, rest: tuple[Step, ...] = ()) -> list[Alternative]:
        """Return the forward paths to the nodes above a path's last nodes.

        From the context node of a relative path it goes up by a guard that holds the ``rest``.
        """
        if up.axis is Axis.ANCESTOR_OR_SELF:
            itself = self.add(path, on(Axis.SELF, up))
            return itself + self.climb(path, on(Axis.ANCESTOR, up), rest)
        if path.steps:
            climb = climb_to_parents if up.axis is Axis.PARENT else climb_to_ancestors
            return climb(self, path, up, rest)
        return _leave(path, up, rest)

    def climb_past(self, path: Alternative, up: Step, rest: tuple[Step, ...]) -> list[Alternative]:
        """Return the same from the node before the last step, which must be able to make it."""
        above = path.above
        if above.steps:
            return self.climb(above.guarded(path.steps[-1]), up, rest)
        return _leave(path, up, rest)

    def require(self, path: Alternative, up: Step) -> list[Alternative]:
        """Return a path by where the node above its last node is that a condition asks for."""
        if up.axis is Axis.ANCESTOR_OR_SELF:
            itself = self.add(path, on(Axis.SELF, up))
            return itself + self.require(path, on(Axis.ANCESTOR, up))
        if path.steps:
            require = require_parent if up.axis is Axis.PARENT else require_ancestor
            return require(self, path, up)
        return [] if path.absolute else [replace(path, guards=(*path.guards, up))]

    def cases(self, predicates: tuple[Expression, ...]) -> list[Disjunct]:
        """Return the cases in which all predicates of a step hold."""
        cases = [Disjunct((), ())]
        for predicate in predicates:
            cases = bounded(conjoin(cases, bounded(cases_of(self, predicate))))
        return cases


def bounded(found: list[T]) -> list[T]:
    """Return the distinct alternatives or cases.

    Raises:
        NoTwigError: There are more than ``ALTERNATIVES_MAX``.
    """
    distinct = list(dict.fromkeys(found))
    if len(distinct) > ALTERNATIVES_MAX:
        raise NoTwigError(f"reverse axes split a path into over {ALTERNATIVES_MAX} alternatives")
    return distinct


def _leave(path: Alternative, up: Step, rest: tuple[Step, ...]) -> list[Alternative]:
    """Go up from the node that a path starts at; nothing is above the document node."""
    if path.absolute:
        return []
    below = (exists(*rest),) if rest else ()
    guard = replace(up, predicates=(*up.predicates, *below))
    return [replace(path, guards=(*path.guards, guard), has_left=True)]


def _with_two_slashes_joined(steps: tuple[Step, ...]) -> tuple[Step, ...]:
    """Return ``//t`` as one step; with a position in it no twig can say it either way."""
    found: list[Step] = []
    for step in steps:
        if found and _is_open(found[-1]) and step.axis in BELOW:
            found[-1] = on(BELOW[step.axis], step)
        else:
            found.append(step)
    return tuple(found)


def _is_open(step: Step) -> bool:
    is_any = step.axis is Axis.DESCENDANT_OR_SELF and step.test == ANY_TEST
    return is_any and not step.predicates
