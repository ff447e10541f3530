"""When a node of a set is certain to be one, seen from that node."""

from __future__ import annotations

from penstock.planning.depths import RECORD, lowest_depth
from penstock.planning.expression_timing import (
    DOCUMENT_END,
    NONE,
    OWN_END,
    PARENT_END,
    Wait,
    kind_of,
    latest,
    wait_for,
)
from penstock.planning.timing import Moment
from penstock.twigs import Axis, NodeKind
from penstock.twigs import expressions as x
from penstock.twigs.expression_printing import print_step
from penstock.twigs.own_parts import is_positional, own_parts

_DOWN = frozenset({Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF, Axis.ATTRIBUTE})
_UP = frozenset({Axis.PARENT, Axis.ANCESTOR, Axis.ANCESTOR_OR_SELF})
_AROUND = Wait(Moment.ANCESTOR, "an element around it")


def decision_of(nodes: x.Nodes) -> Wait:
    """Return when it is certain at the latest that a node is in the set, or that it is not."""
    match nodes:
        case x.Root() | x.Here():
            return NONE
        case x.Step(base=base, axis=axis, predicates=predicates, test=test):
            own = [wait_for(predicate, test.kind) for predicate in predicates]
            counted = _counted(nodes) if any(map(is_positional, predicates)) else NONE
            wait = latest(counted, *own)
            if wait.moment is Moment.PARENT and axis is Axis.CHILD:
                wait = _end_of(base, axis)
            return latest(_from_base(decision_of(base), nodes), wait)
        case x.Filter(base=base, predicates=predicates):
            decision = decision_of(base)
            own = [wait_for(predicate, kind_of(base)) for predicate in predicates]
            if any(map(is_positional, predicates)):
                is_ordered = decision == NONE and not any(map(_asks_for_last, predicates))
                own.append(NONE if is_ordered and _comes_in_order(base) else DOCUMENT_END)
            return latest(decision, *own)
        case x.Union(parts=parts):
            return latest(*[decision_of(part) for part in parts])
        case x.Identified(words=words):
            return NONE if wait_for(words, kind_of(x.Root())) == NONE else DOCUMENT_END
        case x.TwigNode():
            raise AssertionError("a twig stands in no expression")


def _from_base(wait: Wait, step: x.Step) -> Wait:
    """Return a wait at the node that a step starts from, seen from the node it leads to."""
    if wait.moment is Moment.DOCUMENT:
        return wait
    match step.axis:
        case Axis.SELF:
            return wait
        case axis if axis in _DOWN or axis is Axis.NAMESPACE:
            if wait.moment is Moment.END:
                return _end_of(step.base, axis)
            return wait if wait == NONE else latest(wait, _AROUND)
        case axis if axis in _UP:
            # The node is found from within; what a part of it waits for may lie outside.
            return latest(OWN_END, wait if wait.moment is Moment.ANCESTOR else NONE)
        case Axis.FOLLOWING_SIBLING:
            return NONE if wait.moment <= Moment.END else wait
        case Axis.PRECEDING_SIBLING:
            return latest(PARENT_END, wait)
        case Axis.FOLLOWING:
            return NONE if wait.moment <= Moment.END else _AROUND
        case _:
            return DOCUMENT_END


def _counted(step: x.Step) -> Wait:
    """Return when the position of a node on an axis is certain, and how many there are."""
    asks = any(map(_asks_for_last, step.predicates))
    before = [wait_for(predicate, step.test.kind) for predicate in step.predicates]
    waits = any(wait != NONE for wait in before)
    match step.axis:
        case Axis.CHILD | Axis.FOLLOWING_SIBLING:
            # Those before it have ended, unless they wait for what is around all of them.
            return PARENT_END if asks else NONE
        case Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF if asks:
            return _end_of(step.base, step.axis)
        case Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF:
            return _end_of(step, step.axis) if waits else NONE
        case Axis.FOLLOWING:
            return DOCUMENT_END if asks or waits else NONE
        case _:
            return NONE if not waits else latest(OWN_END, *before)


def _end_of(nodes: x.Nodes, axis: Axis) -> Wait:
    """Return the wait for the end of a node of a set, seen from where an axis leads to."""
    match nodes:
        case x.Root() | x.Step(axis=Axis.CHILD, base=x.Root()):
            return DOCUMENT_END  # the one element of a document ends with it
        case x.Step(axis=above, test=test) if test.kind is not NodeKind.ANY:
            is_inner = lowest_depth(nodes) >= RECORD
            return Wait(Moment.ANCESTOR, print_step(above, test), is_inner)
        case _:
            # The document node may be among them, and everything is inside it.
            return PARENT_END if axis in (Axis.CHILD, Axis.ATTRIBUTE) else DOCUMENT_END


def _asks_for_last(atom: x.Atom) -> bool:
    return any(isinstance(part, x.Last) for part in own_parts(atom))


def _comes_in_order(nodes: x.Nodes) -> bool:
    """Return whether every node of a set is found before any that follows it."""
    while isinstance(nodes, x.Step) and nodes.axis in _DOWN | {Axis.SELF}:
        nodes = nodes.base
    return isinstance(nodes, x.Root | x.Here)
