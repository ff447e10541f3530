"""A predicate by cases: what must be above the node, and forward conditions at it.

Only what a predicate asserts can move to another step, so ``not(ancestor::n)`` has no cases and
no twig. Cases that ask for nothing above are one case, a disjunction.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.forward.alternatives import ANY_TEST, Alternative, joined
from penstock.languages.xpath.forward.nodesets import forward, looks_back, paths_of
from penstock.languages.xpath.functions import Type
from penstock.twigs import Axis
from penstock.twigs.logic import FLIPPED

if TYPE_CHECKING:
    from penstock.languages.xpath.forward.walking import Walk


@dataclass(frozen=True, slots=True)
class Disjunct:
    """A case: the steps up that must find something, and the conditions that must hold."""

    ups: tuple[s.Step, ...]
    conditions: tuple[s.Expression, ...]


def cases_of(walk: Walk, predicate: s.Expression) -> list[Disjunct]:
    """Return the cases in which a predicate holds; none if it never does.

    Raises:
        NoTwigError: It asks for something above in a way that no twig can say.
    """
    if not looks_back(predicate):
        return [Disjunct((), (predicate,))]
    match predicate:
        case s.Logical(operator="and", parts=parts):
            return walk.cases(parts)
        case s.Logical(parts=parts) | s.Union(parts=parts):
            return _merged([case for part in parts for case in cases_of(walk, part)])
        case s.FunctionCall(name="boolean", arguments=(argument,)):
            return cases_of(walk, argument)
        case s.Path() | s.Filter():
            return _merged([_case(path) for path in paths_of(walk, predicate, at_root=False)])
        case s.Binary(operator=operator, left=left, right=right) if operator in s.COMPARISONS:
            if _is_constant(walk, right) and walk.scope.type_of(left) is Type.NODES:
                return cases_of(walk, _comparing(operator, left, right))
            if _is_constant(walk, left) and walk.scope.type_of(right) is Type.NODES:
                return cases_of(walk, _comparing(FLIPPED[operator], right, left))
    return [Disjunct((), (forward(walk, predicate, at_root=False),))]


def conjoin(left: list[Disjunct], right: list[Disjunct]) -> list[Disjunct]:
    """Return the cases in which one of each side holds."""
    return [
        Disjunct((*one.ups, *other.ups), (*one.conditions, *other.conditions))
        for one, other in product(left, right)
    ]


def _merged(cases: list[Disjunct]) -> list[Disjunct]:
    """Return the cases with those as one that ask for nothing above."""
    plain = [case for case in cases if not case.ups]
    if len(plain) < 2:
        return cases
    if any(not case.conditions for case in plain):
        return [Disjunct((), ())]
    alternatives = [joined("and", list(case.conditions)) for case in plain]
    return [Disjunct((), (joined("or", alternatives),)), *(case for case in cases if case.ups)]


def _case(path: Alternative) -> Disjunct:
    if not path.steps and not path.absolute:
        return Disjunct(path.guards, ())
    span = (path.steps[0].span[0], path.steps[-1].span[1]) if path.steps else (0, 0)
    return Disjunct(path.guards, (s.Path(path.absolute, path.steps, span),))


def _is_constant(walk: Walk, expression: s.Expression) -> bool:
    """Return whether a node compares with this as its string value does."""
    match expression:
        case s.Literal() | s.Number() | s.Negate(operand=s.Number()):
            return True
        case s.Variable():
            return walk.scope.type_of(expression) is not Type.BOOLEAN
        case _:
            return False


def _comparing(operator: str, nodes: s.Expression, constant: s.Expression) -> s.Filter:
    """Return the nodes that compare with a constant."""
    here = s.Step(Axis.SELF, ANY_TEST, (), nodes.span, nodes.span)
    comparison = s.Binary(operator, s.Path(False, (here,), nodes.span), constant, nodes.span)
    return s.Filter(nodes, (comparison,), nodes.span)
