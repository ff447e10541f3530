"""What an expression costs while a document grows: flat, kept for each record, pairs or powers.

A set along an order axis is summed up for all nodes that ask: existence is a bit, a count or a sum
a number, a position a few nodes; a comparison with values of the node keeps what differs. Where
there is no such summary, a pair is kept for each node and each member. Where the members then lead
on to sets of their own, each pair meets all members of those.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from penstock.planning.depths import (
    ENDLESS,
    RECORD,
    depth_after,
    looks_back,
    lowest_depth,
    may_be_endless,
)
from penstock.planning.expression_timing import wait_for
from penstock.planning.positions import (
    asks_for_constant_positions,
    has_last_position,
    is_one_rank,
)
from penstock.planning.timing import Moment
from penstock.planning.verdicts import Cost
from penstock.twigs import Axis, NodeKind, Slot
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import BACK
from penstock.twigs.own_parts import is_positional, own_parts
from penstock.twigs.parts import parts_of

_SIBLINGS = frozenset({Axis.PRECEDING_SIBLING, Axis.FOLLOWING_SIBLING})
_ORDER = _SIBLINGS | {Axis.PRECEDING, Axis.FOLLOWING}
_BEFORE = frozenset({Axis.PRECEDING_SIBLING, Axis.PRECEDING})
_APART = frozenset({Axis.CHILD, Axis.ATTRIBUTE})
"""Steps that lead from two nodes to no node in common, even if one is inside the other."""
_DOWN = frozenset({Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF})
_INSIDE = _DOWN | {Axis.ATTRIBUTE, Axis.SELF}


class _Use(Enum):
    """What a node asks of a set."""

    EXISTS = "whether there is a member"
    COUNT = "how many there are"
    SUM = "their sum"
    FIRST = "the first in document order"
    COMPARED = "whether one compares with values of the node's"
    VALUES = "their values, one by one"


_WHOLE = frozenset({_Use.COUNT, _Use.SUM, _Use.FIRST})
"""What needs all members, or an order among them."""
_SUMMED: dict[_Use, frozenset[Axis]] = {
    _Use.EXISTS: _ORDER,
    _Use.COUNT: _ORDER,
    _Use.SUM: _BEFORE,
    _Use.FIRST: _ORDER,
    _Use.COMPARED: _ORDER,
    _Use.VALUES: frozenset(),
}
"""The axes along which all nodes share one summary of a set; along others they meet its members.

Whole numbers behind a node are summed up for all, but fractions are added for each node: the
rounding differs."""
_SMALL: dict[_Use, frozenset[Axis]] = {
    _Use.EXISTS: _BEFORE,
    _Use.COUNT: _BEFORE,
    _Use.SUM: frozenset({Axis.PRECEDING_SIBLING}),
    _Use.FIRST: _BEFORE,
    _Use.COMPARED: frozenset(),
    _Use.VALUES: frozenset(),
}
"""The axes to what came before along which a summary keeps nothing for a member."""
_FROM_THE_END = _SIBLINGS | {Axis.FOLLOWING}
"""The axes along which all nodes beyond a node are the same for whoever reached it."""


def cost_of(expression: x.Expression, here: int = 0, is_asked: bool = False) -> Cost:
    """Return the worst cost in an expression that is evaluated at nodes of a least depth.

    ``is_asked`` says that it is evaluated at many nodes, not at the document alone. What waits
    until it is decided is not looked at.
    """
    costs = [Cost.FLAT]
    match expression:
        case x.Step(base=base, predicates=predicates) | x.Filter(base=base, predicates=predicates):
            inner = lowest_depth(expression, here)
            costs += [cost_of(predicate, inner, True) for predicate in predicates]
            costs += [cost_of(base, here, is_asked), _position_cost(expression)]
            if not is_asked and looks_back(expression):
                costs.append(_cost_of_looking_back(expression))
        case _:
            costs += [cost_of(part, here, is_asked) for part in parts_of(expression)]
            if is_asked:
                costs += [_cost_of_set(use, nodes, here) for use, nodes in _sets(expression)]
                costs.append(_cost_of_two(expression, here))
            elif isinstance(expression, x.PairCompare):
                costs.append(Cost.KEPT)
    return max(costs)


def _sets(atom: x.Expression) -> Iterator[tuple[_Use, x.Nodes]]:
    """Yield the sets of an atom with what it asks of them."""
    match atom:
        case x.Exists(nodes=nodes) | x.SomeCompare(nodes=nodes, value=Slot()):
            yield _Use.EXISTS, nodes
        case x.SomeCompare() | x.JoinedStrings() | x.ListedStrings():
            yield _Use.VALUES, atom.nodes
        case x.PairCompare(left=left, right=right):
            yield from ((_Use.COMPARED, left), (_Use.COMPARED, right))
        case x.Count(nodes=nodes):
            yield _Use.COUNT, nodes
        case x.Sum(nodes=nodes):
            yield _Use.SUM, nodes
        case x.StringOf(nodes=nodes) | x.NameOf(nodes=nodes):
            yield _Use.FIRST, nodes


def _cost_of_set(use: _Use, nodes: x.Nodes, here: int) -> Cost:
    """Return what a set costs that every node has one of."""
    spine = list(_spine(nodes))
    cost = _cost_of_spine(use, nodes, spine, here)
    return _cost_of_pairs(spine) if cost is Cost.PAIRS else cost


def _cost_of_pairs(moves: list[x.Step]) -> Cost:
    """Return PAIRS, or POWERS if the members lead on along an axis to others."""
    moves = [step for step in moves if step.axis in _ORDER | BACK]
    around = [step for step in moves if step.axis is not Axis.PARENT or step.predicates]
    return Cost.POWERS if len(around) > 1 else Cost.PAIRS


def _is_one(step: x.Step) -> bool:
    """Return whether a step leads from each node to one node at most."""
    return any(is_one_rank(part) or _is_from_last(part) for part in step.predicates)


def _cost_of_spine(use: _Use, nodes: x.Nodes, spine: list[x.Step], here: int) -> Cost:
    """Return what a set costs if its members do not lead on."""
    endless = [step for step in spine if _is_endless(step, here)]
    if not _is_path(nodes) and (endless or any(step.axis in _ORDER | BACK for step in spine)):
        return Cost.PAIRS
    if use is not _Use.EXISTS and any(map(_climbs_again, spine)):
        return Cost.PAIRS
    if use is not _Use.EXISTS and any(map(_is_counted_apart, spine)):
        return Cost.PAIRS
    if use in _WHOLE and any(map(_comes_down, endless)):
        return Cost.PAIRS
    ordered = [place for place, step in enumerate(spine) if step.axis in _ORDER]
    below = [place for place in ordered if place > 0]
    if any(spine[place].axis not in _SUMMED[use] for place in ordered):
        return Cost.PAIRS
    if ordered and not _is_summed_on_the_way(use, spine, ordered):
        return Cost.PAIRS
    is_valued = use in (_Use.COMPARED, _Use.VALUES) and bool(endless)
    if is_valued and any(_is_met(use, nodes, step) for step in endless):
        return Cost.PAIRS
    is_kept = any(step.axis in _BEFORE - _SMALL[use] or _keeps_all(step) for step in spine)
    is_kept = is_kept or (use in _WHOLE and any(_is_gathered(spine[place]) for place in below))
    return Cost.KEPT if is_valued or is_kept or any(map(_is_undecided, endless)) else Cost.FLAT


def _is_summed_on_the_way(use: _Use, spine: list[x.Step], ordered: list[int]) -> bool:
    """Return whether steps beside the order axis leave the summary as it is.

    The spine begins with its last step.
    """
    if use is _Use.COMPARED:
        first = spine[ordered[-1]]
        is_found = first.axis in _SIBLINGS or _is_above(first.base)
        return is_found and all(step.axis in _INSIDE for step in spine[: ordered[-1]])
    if use not in _WHOLE:
        return len(ordered) == 1 or spine[ordered[-1]].axis not in _BEFORE
    step, way = spine[ordered[0]], spine[: ordered[0]]
    # What is asked of a parent is put to it; below other nodes, every node asks for itself.
    climbs = all(up.axis is Axis.PARENT and not up.predicates for up in spine[ordered[0] + 1 :])
    if len(ordered) > 1 or _is_counted(step) or not climbs:
        return False
    if use is _Use.FIRST and step.axis is Axis.FOLLOWING:
        return not way or (len(way) == 1 and _is_one_attribute(way[0]))
    down = _APART | {Axis.DESCENDANT} if step.axis in _SIBLINGS else _APART
    return all(
        below.axis in down and (below.axis is Axis.CHILD or not _is_counted(below)) for below in way
    )


def _is_one_attribute(step: x.Step) -> bool:
    return step.axis is Axis.ATTRIBUTE and step.test.local is not None and not _is_counted(step)


def _climbs_again(step: x.Step) -> bool:
    """Return whether a step leads up from nodes below the context: all of them meet above it."""
    return step.axis in BACK and isinstance(step.base, x.Step) and step.base.axis in _DOWN


def _comes_down(step: x.Step) -> bool:
    """Return whether a step leads down from nodes around the context, each with its own members.

    What is asked of a parent without predicates is put to it once.
    """
    base = step.base
    if step.axis not in _DOWN or not isinstance(base, x.Step) or base.axis not in BACK - _ORDER:
        return False
    return base.axis is not Axis.PARENT or bool(base.predicates)


def _is_gathered(step: x.Step) -> bool:
    """Return whether what lies below a node that never ends may be gathered until its end."""
    return may_be_endless(depth_after(0, Axis.DESCENDANT, step.test), step.test)


def _is_met(use: _Use, nodes: x.Nodes, step: x.Step) -> bool:
    """Return whether values below a node that never ends are compared one by one."""
    if step.axis not in _DOWN:
        return False
    return use is _Use.VALUES or not (isinstance(step.base, x.Root) or _is_of_parent(nodes))


def _is_of_parent(nodes: x.Nodes) -> bool:
    """Return whether a set is what a path down from a parent reaches: all its children share it."""
    while isinstance(nodes, x.Step) and nodes.axis in _INSIDE:
        nodes = nodes.base
    return not isinstance(nodes, x.Here | x.Root) and _is_above(nodes)


def _is_above(nodes: x.Nodes) -> bool:
    """Return whether a set is the node itself, or its parent and so on without conditions."""
    while isinstance(nodes, x.Step) and nodes.axis is Axis.PARENT and not nodes.predicates:
        nodes = nodes.base
    return isinstance(nodes, x.Here | x.Root)


def _cost_of_two(atom: x.Expression, here: int) -> Cost:
    """Return PAIRS for a number or a comparison that brings two sets together.

    Sets along an order axis and those that never end below the parent are shared on one side only.
    """
    if not isinstance(atom, x.PairCompare | x.SomeCompare | x.Count | x.Sum):
        return Cost.FLAT
    if isinstance(atom, x.SomeCompare) and isinstance(atom.value, Slot):
        return Cost.FLAT
    axes = [part.axis for part in own_parts(atom) if isinstance(part, x.Step)]
    shared = sum(axis in _ORDER for axis in axes)
    if isinstance(atom, x.PairCompare):
        sides = [side for side in (atom.left, atom.right) if _is_of_parent(side)]
        shared += sum(any(_is_endless(step, here) for step in _spine(side)) for side in sides)
    return Cost.PAIRS if shared > 1 else Cost.FLAT


def _cost_of_looking_back(nodes: x.Step | x.Filter) -> Cost:
    """Return what it costs to select nodes that came before the node that selects them.

    Without positions such a path is turned around. With one, only a last step knows its nodes.
    """
    spine = [step for step in _spine(nodes) if step.axis is not Axis.ATTRIBUTE]
    counted = [place for place, step in enumerate(spine) if _is_counted(step)]
    is_simple = isinstance(nodes, x.Step) and counted in ([], [0])
    moves = [step.axis for step in spine if step.axis in _ORDER | BACK]
    if not is_simple or (counted and len(moves) > 1):
        return _cost_of_pairs([step for step in spine if not _is_one(step)])
    return Cost.KEPT if any(axis in _ORDER for axis in moves) else Cost.FLAT


def _is_counted(nodes: x.Step | x.Filter) -> bool:
    return any(map(is_positional, nodes.predicates))


def _is_path(nodes: x.Nodes) -> bool:
    """Return whether a set is a path of steps alone."""
    while isinstance(nodes, x.Step):
        nodes = nodes.base
    return isinstance(nodes, x.Here | x.Root)


def _spine(nodes: x.Nodes) -> Iterator[x.Step]:
    """Yield the steps of a set, without those in predicates."""
    return (part for part in own_parts(x.Exists(nodes)) if isinstance(part, x.Step))


def _is_undecided(step: x.Step) -> bool:
    """Return whether members wait for what comes after them."""
    return _waits(step.predicates, step.test.kind)


def _waits(predicates: tuple[x.Atom, ...], kind: NodeKind) -> bool:
    """Return whether predicates of nodes wait for what comes after those."""
    waits = [wait_for(predicate, kind).moment for predicate in predicates]
    return max(waits, default=Moment.START) > Moment.END


def _is_endless(step: x.Step, here: int) -> bool:
    """Return whether the nodes that a step tries may go on for ever."""
    depth = lowest_depth(step.base, here)
    match step.axis:
        case Axis.CHILD | Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF:
            return depth <= ENDLESS
        case Axis.FOLLOWING_SIBLING:
            return depth <= RECORD
        case axis:
            return axis in _ORDER


def _position_cost(nodes: x.Step | x.Filter) -> Cost:
    """Return PAIRS for positions that every context counts in its own way."""
    if isinstance(nodes, x.Filter) or not _is_counted(nodes):
        return Cost.FLAT
    counted = [predicate for predicate in nodes.predicates if is_positional(predicate)]
    if nodes.axis in _ORDER:
        is_shared = asks_for_constant_positions(nodes.predicates) or (
            len(counted) == 1 and _is_found_from_last(nodes, counted[0])
        )
        return Cost.FLAT if is_shared else Cost.PAIRS
    asks_for_last = any(isinstance(part, x.Last) for atom in counted for part in own_parts(atom))
    return Cost.KEPT if len(counted) > 1 and asks_for_last else Cost.FLAT


def _is_found_from_last(step: x.Step, position: x.Atom) -> bool:
    """Return whether a position from the last is found along an order axis without counting."""
    before = step.predicates[: step.predicates.index(position)]
    match position:
        case (
            x.Compare(operator="=", left=x.Position(), right=x.Last())
            | x.Compare(operator="=", left=x.Last(), right=x.Position())
        ) if step.axis is Axis.PRECEDING:
            return not _waits(before, step.test.kind)
    return _is_from_last(position) and step.axis in _FROM_THE_END


def _is_from_last(predicate: x.Atom) -> bool:
    """Return whether a predicate asks for one position, counted from the last."""
    match predicate:
        case (
            x.Compare(operator="=", left=x.Position(), right=other)
            | x.Compare(operator="=", left=other, right=x.Position())
        ):
            match other:
                case x.Last() | x.Call(function="-", arguments=(x.Last(), Slot())):
                    return True
    return False


def _is_counted_apart(step: x.Step) -> bool:
    """Return whether a node that collects a step counts its members for itself.

    One rank is waited for by all nodes together. A range, or a condition before the position,
    makes a member a possible one for every node that has not got its own yet.
    """
    is_ordered = step.axis in _ORDER and _is_counted(step)
    first = step.predicates[0] if step.predicates else None
    return is_ordered and not (first and (is_one_rank(first) or _is_from_last(first)))


def _keeps_all(step: x.Step) -> bool:
    """Return whether positions among what came before have no end: all of it is kept."""
    is_counted = step.axis in _BEFORE and _is_counted(step)
    return is_counted and not has_last_position(step.predicates)
