"""The verdict on twigs."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planning import words
from penstock.planning.depths import depth_after, may_be_endless
from penstock.planning.timing import Moment, moment_of
from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.twigs import Aggregate, Axis, NodeKind, Query, TwigNode, Value
from penstock.twigs.expression_printing import print_condition, print_step
from penstock.twigs.logic import conjuncts


def twig_verdict(query: Query) -> Verdict:
    """Return what can be said of twigs in normal form."""
    output, alternatives = query.output, query.blocks[0].alternatives
    if isinstance(output, Value):
        needs = moment_of(output.atom, NodeKind.DOCUMENT) is not Moment.START
        return words.VALUES[bool(alternatives) and needs]
    waits = [_wait(_spine(alternative)) for alternative in alternatives]
    if not waits:
        return words.NOTHING
    when = [_when(wait) for wait in waits]
    is_counted = isinstance(output, Aggregate) and output.function == "count"
    suits, endless = _endless(waits, is_counted)
    cost = Cost.FLAT if suits else Cost.KEPT
    decided = max([wait.decided for wait in waits], key=list(Decided).index)
    what = "its bytes"
    if isinstance(output, Aggregate):
        what = "its value"
        when.append(words.aggregate_time(output.function, output.running))
        if not output.running:
            decided, suits, endless = Decided.DOCUMENT, False, words.NO_SUMMARY
    held = _held(waits, what)
    return Verdict(decided, tuple(when), tuple(held), _memory(waits), cost, suits, endless)


@dataclass(frozen=True, slots=True)
class _Wait:
    """What an alternative waits for: the step whose end decides, None if nothing waits.

    ``depth`` counts from the document node, 0.
    """

    spine: tuple[TwigNode, ...]
    depth: int | None

    @property
    def is_whole_document(self) -> bool:
        """Whether the wait can last until the document ends."""
        if self.depth is None:
            return False
        # A child of the document node is its one element, which ends with it.
        return self.depth == 0 or (self.depth == 1 and self.spine[1].axis is Axis.CHILD)

    @property
    def decided(self) -> Decided:
        """The latest moment, from where the result is."""
        if self.depth is None:
            return Decided.START
        if self.is_whole_document:
            return Decided.DOCUMENT
        return Decided.END if self.depth == len(self.spine) - 1 else Decided.SCOPE


def _spine(alternative: TwigNode) -> tuple[TwigNode, ...]:
    steps = [alternative]
    while steps[-1].branches:
        steps.append(steps[-1].branches[0].node)
    return tuple(steps)


def _wait(spine: tuple[TwigNode, ...]) -> _Wait:
    for depth, step in enumerate(spine):
        if moment_of(step.where, step.test.kind) is Moment.END:
            return _Wait(spine, depth)
    return _Wait(spine, None)


def _name(step: TwigNode) -> str:
    return "the document" if step.test.kind is NodeKind.DOCUMENT else _print(step)


def _print(step: TwigNode) -> str:
    return print_step(step.axis, step.test)


def _when(wait: _Wait) -> str:
    result = wait.spine[-1]
    if wait.depth is None:
        return f"{_name(result)}: {words.EVENTS.get(result.test.kind, 'at its start')}"
    step = wait.spine[wait.depth]
    waiting = [
        part for part in conjuncts(step.where) if moment_of(part, step.test.kind) is Moment.END
    ]
    if step.test.kind is NodeKind.DOCUMENT:
        end = "at the end of the document"
    else:
        end = f"at the end tag of {_print(step)}"
    conditions = " and ".join(print_condition(part) for part in waiting)
    return f"{_name(result)}: {end} at the latest, earlier once {conditions} is certain"


def _may_be_endless(spine: tuple[TwigNode, ...]) -> bool:
    depth = 0
    for place, step in enumerate(spine[1:]):
        is_top = place == 0 and step.axis is Axis.CHILD
        depth = depth_after(depth, step.axis, step.test, is_top)
    return may_be_endless(depth, spine[-1].test)


def _held(waits: list[_Wait], what: str) -> list[str]:
    lines = []
    for wait in waits:
        if wait.depth is not None:
            until = _name(wait.spine[wait.depth])
            lines.append(f"{_name(wait.spine[-1])}: {what}, while {until} is open and undecided")
    return lines or ["nothing"]


def _memory(waits: list[_Wait]) -> str:
    if any(wait.is_whole_document for wait in waits):
        return "grows with the candidates until the document ends"
    steps = sorted({_print(w.spine[w.depth]) for w in waits if w.depth is not None})
    if steps:
        return f"at most the candidates in one subtree of {', '.join(steps)}"
    return "constant beside the depth of the document"


def _endless(waits: list[_Wait], is_counted: bool) -> tuple[bool, str]:
    if any(wait.is_whole_document for wait in waits):
        return False, "no: candidates wait for the end of the document"
    if not is_counted and any(_may_be_endless(wait.spine) for wait in waits):
        return False, words.ENDLESS_RESULT
    scopes = [wait.spine[: wait.depth + 1] for wait in waits if wait.depth is not None]
    for spine in filter(_may_be_endless, scopes):
        return False, words.ENDLESS_SCOPE.format(_print(spine[-1]))
    # A first step on another axis than child may find the element that never ends.
    first = [wait.spine[1] for wait in waits if wait.depth == 1]
    names = " or ".join(sorted(set(map(_print, first))))
    return True, f"yes, if the endless element itself is not {names}" if names else "yes"
