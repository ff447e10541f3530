"""When the parts of an expression are known, seen from the node that they are evaluated at.

All answers are bounds: three-valued logic may know earlier, never later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.planning.timing import LEAVES, Moment
from penstock.twigs import Axis, NodeKind
from penstock.twigs import expressions as x
from penstock.twigs.expression_printing import print_step
from penstock.twigs.parts import parts_of


@dataclass(frozen=True, slots=True)
class Wait:
    """The latest event that something needs; ``scope`` names the element that must end.

    ``is_inner`` says that this is an element inside the document's element; see ``depths``.
    """

    moment: Moment
    scope: str = ""
    is_inner: bool = False


NONE = Wait(Moment.START)
OWN_END = Wait(Moment.END)
PARENT_END = Wait(Moment.PARENT, "its parent")
DOCUMENT_END = Wait(Moment.DOCUMENT)


@dataclass(frozen=True, slots=True)
class Times:
    """When the nodes of a set are all there, have ended, and their parents have ended."""

    complete: Wait
    ended: Wait
    parents: Wait

    @property
    def known(self) -> Wait:
        """When the string values of all nodes are known."""
        return latest(self.complete, self.ended)


def latest(*waits: Wait) -> Wait:
    """Return the longest of some waits, the first of equals; inner if all that reach out are."""
    longest = max(waits, key=lambda wait: wait.moment, default=NONE)
    outer = [wait.is_inner for wait in waits if wait.moment > Moment.END]
    return replace(longest, is_inner=bool(outer) and all(outer))


def wait_for(atom: x.Atom, kind: NodeKind) -> Wait:
    """Return when an atom is known at a node of this kind; positions are not looked at."""
    match atom:
        case x.Exists(nodes=nodes) | x.Count(nodes=nodes) | x.NameOf(nodes=nodes):
            return times_of(nodes, kind).complete
        case x.Sum() | x.StringOf() | x.JoinedStrings() | x.ListedStrings():
            return times_of(atom.nodes, kind).known
        case x.SomeCompare(nodes=nodes, value=value):
            return latest(times_of(nodes, kind).known, wait_for(value, kind))
        case x.PairCompare(left=left, right=right):
            return latest(times_of(left, kind).known, times_of(right, kind).known)
        case x.Above():
            raise AssertionError("verdicts speak of expressions as they were asked")
        case _:
            return latest(*[wait_for(part, kind) for part in parts_of(atom)])


def wait_for_text(expression: x.Expression, kind: NodeKind) -> Wait:
    """Return when the string values of a set are known, or an atom, at a node of this kind."""
    if isinstance(expression, x.Nodes):
        return times_of(expression, kind).known
    return wait_for(expression, kind)


def times_of(nodes: x.Nodes, kind: NodeKind) -> Times:
    """Return when a set is known at a context node of this kind."""
    match nodes:
        case x.Here():
            return Times(NONE, NONE if kind in LEAVES else OWN_END, PARENT_END)
        case x.Root():
            return Times(NONE, DOCUMENT_END, DOCUMENT_END)
        case x.Step(base=base, predicates=predicates, test=test):
            times = _along(times_of(base, kind), nodes)
            return _filtered(times, predicates, test.kind)
        case x.Filter(base=base, predicates=predicates):
            return _filtered(times_of(base, kind), predicates, kind_of(base))
        case x.Union(parts=parts):
            found = [times_of(part, kind) for part in parts]
            return Times(
                latest(*[times.complete for times in found]),
                latest(*[times.ended for times in found]),
                latest(*[times.parents for times in found]),
            )
        case x.Identified():
            return Times(DOCUMENT_END, DOCUMENT_END, DOCUMENT_END)
        case x.TwigNode():
            raise AssertionError("a twig stands in no expression")


def kind_of(nodes: x.Nodes) -> NodeKind:
    """Return the kind of all nodes of a set; ANY where they may differ."""
    match nodes:
        case x.Step(test=test):
            return test.kind
        case x.Filter(base=base):
            return kind_of(base)
        case x.Identified():
            return NodeKind.ELEMENT
        case x.Root():
            return NodeKind.DOCUMENT
        case _:
            return NodeKind.ANY


def _along(base: Times, step: x.Step) -> Times:
    complete, ended, parents = base.complete, base.ended, base.parents
    match step.axis:
        case Axis.ATTRIBUTE | Axis.NAMESPACE:
            return Times(complete, complete, ended)
        case Axis.CHILD | Axis.DESCENDANT:
            complete, parents = latest(complete, ended), ended
        case Axis.DESCENDANT_OR_SELF:
            complete = latest(complete, ended)
        case Axis.PARENT:
            ended, parents = parents, Wait(Moment.ANCESTOR, "an element around it")
        case Axis.ANCESTOR | Axis.ANCESTOR_OR_SELF:
            is_open = step.test.kind is not NodeKind.ELEMENT
            is_inner = step.test.local is not None
            ended = DOCUMENT_END if is_open else Wait(Moment.ANCESTOR, _name(step), is_inner)
            parents = DOCUMENT_END
        case Axis.FOLLOWING_SIBLING:
            complete, ended = latest(complete, parents), parents
        case Axis.PRECEDING_SIBLING:
            ended = complete  # what stands before a node has ended before it
        case Axis.PRECEDING:
            ended, parents = complete, DOCUMENT_END
        case Axis.FOLLOWING:
            return Times(DOCUMENT_END, DOCUMENT_END, DOCUMENT_END)
    return Times(complete, complete if step.test.kind in LEAVES else ended, parents)


def _filtered(times: Times, predicates: tuple[x.Atom, ...], kind: NodeKind) -> Times:
    """Return the times of a set that is complete only when every predicate is decided."""
    complete = times.complete
    for predicate in predicates:
        match wait_for(predicate, kind):
            case Wait(moment=Moment.START):
                pass
            case Wait(moment=Moment.END):
                complete = latest(complete, times.ended)
            case Wait(moment=Moment.PARENT):
                complete = latest(complete, times.parents)
            case wait:
                complete = latest(complete, times.parents, wait)
    return Times(complete, times.ended, times.parents)


def _name(step: x.Step) -> str:
    return print_step(step.axis, step.test)
