"""Traces of an engine, event by event, and how they are held against the oracle.

A trace has one step per event of the document: the ranges of the results that the event decided,
and the starts of the candidates that were held after it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from penstock_testing.kleene import Step
from penstock_testing.tree import EventKind, Node, Tree

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class TraceStep:
    """What an engine did at one event."""

    offset: int
    decided: tuple[Span, ...]
    held: tuple[int, ...]


Trace = list[TraceStep]


@dataclass(frozen=True, slots=True)
class Findings:
    """What an engine did wrong; all empty is perfect.

    ``wrong`` are results that it should not have or lacks, ``late`` results that were due at an
    event before they came, ``overheld`` candidates that no longer could become results, ``lost``
    results that were neither decided nor held after an event.
    """

    wrong: tuple[Span, ...]
    late: tuple[tuple[int, Span], ...]
    overheld: tuple[tuple[int, int], ...]
    lost: tuple[tuple[int, int], ...]

    @property
    def is_in_time(self) -> bool:
        """Whether every result is right and came when it was due."""
        return not (self.wrong or self.late or self.lost)

    @property
    def is_clean(self) -> bool:
        """Whether there is nothing to find."""
        return self.is_in_time and not self.overheld


def ideal_trace(steps: list[Step], tree: Tree) -> Trace:
    """Return the trace of an engine that does exactly what the oracle says."""
    return [
        TraceStep(event.offset, tuple(map(_span, step.decided)), tuple(_starts(step.needed)))
        for event, step in zip(tree.events, steps, strict=True)
    ]


def examine(trace: Trace, steps: list[Step], tree: Tree) -> Findings:
    """Compare a trace with the oracle's steps."""
    assert [step.offset for step in trace] == [event.offset for event in tree.events]
    due: Counter[Span] = Counter()
    come: Counter[Span] = Counter()
    results = Counter(_span(node) for step in steps for node in step.decided)
    late: list[tuple[int, Span]] = []
    overheld: list[tuple[int, int]] = []
    lost: list[tuple[int, int]] = []
    for event, (did, should) in enumerate(zip(trace, steps, strict=True)):
        due.update(map(_span, should.decided))
        come.update(did.decided)
        late += [(event, span) for span in due - come]
        # Nodes of one entity share a start; whether some of them are held is all that shows.
        needed, held = set(_starts(should.needed)), set(did.held)
        overheld += [(event, start) for start in held - needed]
        awaited = {start for start, _ in results - come}
        lost += [(event, start) for start in (awaited & needed) - held]
    wrong = (come - results) + (results - come)
    return Findings(tuple(wrong), tuple(late), tuple(overheld), tuple(lost))


def _span(node: Node) -> Span:
    return (node.start, node.end)


def _starts(nodes: frozenset[Node]) -> list[int]:
    return sorted(node.start for node in nodes)


# Mutants: engines that give right results and yet are not good enough.

Mutant = Callable[[Trace, Tree], Trace]


def defer_to_end_tags(trace: Trace, tree: Tree) -> Trace:
    """Decide only when an element or the document ends."""
    waiting: tuple[Span, ...] = ()
    mutated = []
    for step, event in zip(trace, tree.events, strict=True):
        waiting += step.decided
        if event.kind in (EventKind.END, EventKind.DOCUMENT_END):
            mutated.append(TraceStep(step.offset, waiting, step.held))
            waiting = ()
        else:
            held = tuple(start for start, _ in waiting)
            mutated.append(TraceStep(step.offset, (), step.held + held))
    return mutated


def hold_to_frame_close(trace: Trace, tree: Tree) -> Trace:
    """Let a candidate go only when the element around it ends."""
    parents = {node.start: node.parent or tree.root for node in reversed(tree.nodes)}
    held: set[int] = set()
    mutated = []
    for step, event in zip(trace, tree.events, strict=True):
        decided = {start for start, _ in step.decided}
        held = (held | set(step.held)) - decided
        if event.kind in (EventKind.END, EventKind.DOCUMENT_END):
            gone = {start for start in held if parents[start] is event.node}
            held -= gone - set(step.held)
        mutated.append(TraceStep(step.offset, step.decided, tuple(held)))
    return mutated


def hold_nothing(trace: Trace, tree: Tree) -> Trace:
    """Find results without having kept them."""
    return [TraceStep(step.offset, step.decided, ()) for step in trace]


def take_all_candidates(trace: Trace, tree: Tree) -> Trace:
    """Report every candidate as soon as it is one."""
    ends = {node.start: node.end for node in reversed(tree.nodes)}
    seen: set[int] = set()
    mutated = []
    for step in trace:
        new = [start for start in step.held if start not in seen]
        seen.update(new)
        spans = (*step.decided, *((start, ends[start]) for start in new))
        mutated.append(TraceStep(step.offset, spans, step.held))
    return mutated
