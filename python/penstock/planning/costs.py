"""What an expression costs while a document grows: flat, kept for each record, or pairs.

A set that a node reaches backwards in a scope that does not end is summed up: existence is a bit,
a count or a sum a number, a position a few nodes. A comparison of such a set with values of the
node keeps all different values. Arithmetic on positions and two order axes in one count or
comparison need a pair for each node and each member.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.planning.depths import ENDLESS, RECORD, lowest_depth
from penstock.planning.expression_timing import wait_for
from penstock.planning.timing import Moment
from penstock.planning.verdicts import Cost
from penstock.twigs import Axis, Slot
from penstock.twigs import expressions as x
from penstock.twigs.expression_parts import is_positional, own_parts, parts_of

_ORDER = frozenset({Axis.PRECEDING_SIBLING, Axis.FOLLOWING_SIBLING, Axis.PRECEDING, Axis.FOLLOWING})
_COUNTED = frozenset({Axis.CHILD, Axis.ATTRIBUTE, Axis.NAMESPACE, Axis.SELF, Axis.PARENT})
"""Axes on which any position costs no more than a counter: one group, or one node."""
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})


def cost_of(expression: x.Expression, here: int = 0, is_asked: bool = False) -> Cost:
    """Return the worst cost in an expression that is evaluated at nodes of a least depth.

    ``is_asked`` says that it is evaluated at many nodes, not at the document alone. What waits
    until it is decided is not looked at.
    """
    match expression:
        case x.Step(base=base, predicates=predicates) | x.Filter(base=base, predicates=predicates):
            inner = lowest_depth(expression, here)
            costs = [cost_of(predicate, inner, True) for predicate in predicates]
            costs += [cost_of(base, here, is_asked), _position_cost(expression)]
        case x.PairCompare(left=left, right=right):
            costs = [_cost_of_sets((left, right), here, is_asked, keeps_values=True)]
            costs += [cost_of(part, here, is_asked) for part in (left, right)]
        case x.SomeCompare(nodes=nodes, value=value):
            keeps = not isinstance(value, Slot)
            sets = (nodes, *(part for part in own_parts(value) if isinstance(part, x.Step)))
            costs = [_cost_of_sets(sets, here, is_asked, keeps_values=keeps)]
            costs += [cost_of(part, here, is_asked) for part in (nodes, value)]
        case x.Count(nodes=nodes) | x.Sum(nodes=nodes):
            costs = [_cost_of_sets((nodes,), here, is_asked), cost_of(nodes, here, is_asked)]
        case x.NonEmpty(nodes=nodes) | x.FirstString(nodes=nodes) | x.FirstName(nodes=nodes):
            costs = [_kept_cost(nodes, here, is_asked), cost_of(nodes, here, is_asked)]
        case _:
            costs = [cost_of(part, here, is_asked) for part in parts_of(expression)]
    return max([Cost.FLAT, *costs])


def _cost_of_sets(
    sets: tuple[x.Nodes, ...], here: int, is_asked: bool, keeps_values: bool = False
) -> Cost:
    """Return the cost of a number or a comparison that sets are brought together for."""
    if not is_asked:
        return Cost.FLAT
    spines = [step for nodes in sets for step in _spine(nodes)]
    if sum(step.axis in _ORDER for step in spines) > 1:
        return Cost.PAIRS
    if keeps_values and any(_is_endless(step, here) for step in spines):
        return Cost.KEPT
    return max(_kept_cost(nodes, here, is_asked) for nodes in sets)


def _kept_cost(nodes: x.Nodes, here: int, is_asked: bool) -> Cost:
    """Return KEPT if members that nobody can decide yet may pile up in a scope without an end."""
    if not is_asked:
        return Cost.FLAT
    for step in _spine(nodes):
        waits = [wait_for(predicate, step.test.kind).moment for predicate in step.predicates]
        if _is_endless(step, here) and max(waits, default=Moment.START) > Moment.END:
            return Cost.KEPT
    return Cost.FLAT


def _spine(nodes: x.Nodes) -> Iterator[x.Step]:
    """Yield the steps of a set, without those in predicates."""
    match nodes:
        case x.Step(base=base):
            yield nodes
            yield from _spine(base)
        case x.Filter(base=base):
            yield from _spine(base)
        case x.Union(parts=parts):
            for part in parts:
                yield from _spine(part)


def _is_endless(step: x.Step, here: int) -> bool:
    """Return whether the nodes that a step tries may go on for ever."""
    depth = lowest_depth(step.base, here)
    match step.axis:
        case Axis.CHILD | Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF:
            return depth <= ENDLESS
        case Axis.PRECEDING_SIBLING | Axis.FOLLOWING_SIBLING:
            return depth <= RECORD
        case Axis.PRECEDING | Axis.FOLLOWING:
            return True
        case _:
            return False


def _position_cost(nodes: x.Step | x.Filter) -> Cost:
    """Return PAIRS for positions that more than one context counts in its own way."""
    positional = [predicate for predicate in nodes.predicates if is_positional(predicate)]
    if not positional or isinstance(nodes, x.Filter) or nodes.axis in _COUNTED:
        return Cost.FLAT
    is_simple = len(positional) == 1 and _is_simple(positional[0])
    return Cost.FLAT if is_simple else Cost.PAIRS


def _is_simple(predicate: x.Atom) -> bool:
    """Return whether a predicate compares a position or the last one with a constant."""
    match predicate:
        case x.Apply(function=function, arguments=(one, other)) if function in _COMPARISONS:
            sides = {_side(one), _side(other)}
            return None not in sides and len(sides) == 2
    return False


def _side(atom: x.Atom) -> str | None:
    match atom:
        case x.Position():
            return "position"
        case x.Last():
            return "last"
        case Slot():
            return "constant"
        case x.Apply(function="-", arguments=(x.Last(), Slot())):
            return "last"
    return None
