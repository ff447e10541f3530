"""The verdict on expressions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.planning import words
from penstock.planning.costs import cost_of
from penstock.planning.depths import RECORD, looks_back, lowest_depth, may_select_endless
from penstock.planning.expression_decisions import decision_of
from penstock.planning.expression_timing import (
    NONE,
    Wait,
    latest,
    wait_for,
    wait_for_text,
)
from penstock.planning.timing import Moment
from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.twigs import Axis, NodeKind, Selection
from penstock.twigs import expressions as x
from penstock.twigs.expression_printing import print_expression, print_step
from penstock.twigs.parts import parts_of

_DECIDED = {
    Moment.START: Decided.START,
    Moment.END: Decided.END,
    Moment.PARENT: Decided.SCOPE,
    Moment.ANCESTOR: Decided.SCOPE,
    Moment.DOCUMENT: Decided.DOCUMENT,
}


def expression_verdict(selection: Selection) -> Verdict:
    """Return what can be said of a query that is an expression."""
    expression = selection.expression
    if not isinstance(expression, x.Nodes):
        said = words.VALUES[wait_for(expression, NodeKind.DOCUMENT) != NONE]
        return replace(said, cost=cost_of(expression))
    decision = decision_of(expression)
    name, kind = _name(expression)
    beside = latest(*[wait_for_text(value, kind) for _, value in selection.beside])
    wait = latest(decision, beside)
    when = [f"{name}: {_when(decision, kind)}"]
    if beside.moment > decision.moment:
        when.append(f"the values beside it: {_when(beside, kind)}")
    what = "its value" if selection.aggregate else "its bytes"
    held = [] if wait == NONE else [f"{name}: {what}, until then"]
    asked = (expression, *(nodes for _, nodes in selection.beside))
    kept = dict.fromkeys(text for nodes in asked for text in _kept(nodes))
    held += [f"{text}: what later nodes ask of it" for text in kept]
    depth = lowest_depth(expression)
    cost = max([cost_of(expression), *(cost_of(n, depth, True) for _, n in selection.beside)])
    memory, cost, endless = _bound(wait, cost, expression, name)
    if cost is Cost.FLAT and selection.aggregate != "count" and may_select_endless(expression):
        cost, endless = Cost.KEPT, words.ENDLESS_RESULT
    if wait == NONE and cost is Cost.FLAT and kept and depth > RECORD:
        memory = "at most what is in one subtree of its parent"
    suits = cost is Cost.FLAT
    decided = _DECIDED[wait.moment]
    if selection.aggregate is not None:
        when.append(words.aggregate_time(selection.aggregate, selection.running))
        if not selection.running:
            decided, suits, endless = Decided.DOCUMENT, False, words.NO_SUMMARY
    return Verdict(decided, tuple(when), tuple(held) or ("nothing",), memory, cost, suits, endless)


def _name(nodes: x.Nodes) -> tuple[str, NodeKind]:
    """Return how to call the nodes of a set, and what they are."""
    match nodes:
        case x.Step(axis=axis, test=test):
            return print_step(axis, test), test.kind
        case x.Filter(base=base):
            return _name(base)
        case x.Identified():
            return "the element", NodeKind.ELEMENT
        case x.Root() | x.Here():
            return "the document", NodeKind.DOCUMENT
        case _:
            return "the node", NodeKind.ANY


def _when(wait: Wait, kind: NodeKind) -> str:
    match wait.moment:
        case Moment.START:
            return words.EVENTS.get(kind, "at its start")
        case Moment.END:
            end = "at its end"
        case Moment.DOCUMENT:
            end = "at the end of the document"
        case _:
            end = f"at the end of {wait.scope}"
    return f"{end} at the latest, earlier once it is certain"


def _kept(expression: x.Expression, is_asked: bool = False) -> Iterator[str]:
    """Yield the sets that a later node may look back at.

    ``is_asked`` says that the expression is evaluated at a node of a path, not at the document.
    """
    if not isinstance(expression, x.Step):
        for part in parts_of(expression):
            yield from _kept(part, is_asked)
        return
    is_before = expression.axis in (Axis.PRECEDING_SIBLING, Axis.PRECEDING)
    if is_asked and (is_before or isinstance(expression.base, x.Root)):
        yield print_expression(expression)
    yield from _kept(expression.base, is_asked)
    for predicate in expression.predicates:
        yield from _kept(predicate, True)


def _bound(wait: Wait, cost: Cost, nodes: x.Nodes, name: str) -> tuple[str, Cost, str]:
    """Return what bounds the memory, what a record costs, and whether a stream may be endless."""
    if cost >= Cost.PAIRS:
        memory = "grows with the pairs of a node and a member of its set, to `Limits.pairs_max`"
        return memory, cost, "no: a node may meet all records before it"
    if wait.moment is Moment.DOCUMENT:
        reason = "no: candidates wait for the end of the document"
        return "grows with the candidates until the document ends", Cost.KEPT, reason
    if cost is Cost.KEPT:
        reason = "no: what later nodes may ask for would be kept for ever"
        return "grows with what later nodes may ask for until the document ends", cost, reason
    if wait.moment is Moment.START:
        return "constant beside the depth of the document", cost, "yes"
    scope = name if wait.moment is Moment.END else wait.scope
    memory = f"at most what is in one subtree of {scope}"
    scope = "the result" if wait.moment is Moment.END else scope
    if not _is_inner(wait, nodes):
        return memory, Cost.KEPT, words.ENDLESS_SCOPE.format(scope)
    return memory, cost, f"yes, if {scope} is not the endless element"


def _is_inner(wait: Wait, nodes: x.Nodes) -> bool:
    """Return whether what ends a wait for nodes lies inside the element that never ends."""
    if wait.moment is Moment.END:
        return not may_select_endless(nodes)
    if looks_back(nodes):
        return False  # candidates are more than the nodes that the wait is about
    return lowest_depth(nodes) > RECORD if wait.moment is Moment.PARENT else wait.is_inner
