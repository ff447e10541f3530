"""What a query is, when its results are decided, and what is held until then."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.planning.normalise import normalise
from penstock.planning.templates.explaining import explain_join
from penstock.planning.timing import Moment, moment_of, moment_of_scalar
from penstock.twigs import (
    Aggregate,
    Axis,
    Event,
    Fragments,
    NodeKind,
    Query,
    TwigNode,
    Value,
)
from penstock.twigs.logic import conjuncts
from penstock.twigs.printing import print_condition, print_query, print_step

_EVENTS = {
    NodeKind.ATTRIBUTE: "at the start tag that carries it",
    NodeKind.TEXT: "at the end of the text",
    NodeKind.COMMENT: "at the comment",
    NodeKind.INSTRUCTION: "at the instruction",
}


def explain(query: Query) -> str:
    """Return the query as written and in normal form, with when, what is held, and how much.

    Raises:
        QueryError: The normal form would be too large.
    """
    normal = normalise(query)
    sections = [
        ("query", [query.text] if query.text else []),
        ("representation", print_query(query).splitlines()),
        ("normal form", print_query(normal).splitlines()),
    ]
    if isinstance(normal.output, Fragments | Aggregate | Value):
        sections += _sections(normal)
    elif isinstance(normal.output, Event):
        sections += explain_join(query)
    parts = []
    for title, lines in sections:
        if lines:
            parts.append("\n".join([title, *("  " + line for line in lines)]))
    return "\n\n".join(parts) + "\n"


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


def _sections(query: Query) -> list[tuple[str, list[str]]]:
    if isinstance(query.output, Value):
        return _value_sections(query, query.output)
    waits = [_wait(_spine(alternative)) for alternative in query.blocks[0].alternatives]
    if not waits:
        return [("decided", ["before the document: nothing can match"])]
    decided = [_decided(wait) for wait in waits]
    memory = [_memory(waits)]
    if isinstance(query.output, Aggregate):
        return [
            ("decided", [*decided, _aggregate_time(query.output)]),
            ("held", _held(waits, "its value")),
            ("memory", memory),
            ("endless streams", [_endless(waits, query.output)]),
        ]
    return [
        ("decided", decided),
        ("held", _held(waits, "its bytes")),
        ("memory", memory),
        ("endless streams", [_endless(waits, None)]),
    ]


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


def _decided(wait: _Wait) -> str:
    result = wait.spine[-1]
    if wait.depth is None:
        return f"{_name(result)}: {_EVENTS.get(result.test.kind, 'at its start')}"
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


def _aggregate_time(output: Aggregate) -> str:
    if output.running:
        return f"{output.function}: after every node that counts"
    return f"{output.function}: at the end of the document"


def _endless(waits: list[_Wait], output: Aggregate | None) -> str:
    if output is not None and not output.running:
        return "no: the value comes at the end of the document; a running one comes earlier"
    if any(wait.is_whole_document for wait in waits):
        return "no: candidates wait for the end of the document"
    # A first step on another axis than child may find the element that never ends.
    steps = sorted({_print(wait.spine[1]) for wait in waits if wait.depth == 1})
    return f"yes, if the endless element itself is not {' or '.join(steps)}" if steps else "yes"


def _value_sections(query: Query, output: Value) -> list[tuple[str, list[str]]]:
    if not query.blocks[0].alternatives:
        return [("decided", ["before the document"])]
    if moment_of_scalar(output.scalar, NodeKind.DOCUMENT) is Moment.START:
        return [
            ("decided", ["before the first element: the value is constant"]),
            ("held", ["nothing"]),
            ("memory", ["constant"]),
            ("endless streams", ["yes"]),
        ]
    return [
        ("decided", ["at the end of the document at the latest, earlier once it is certain"]),
        ("held", ["the strings that the value is made of"]),
        ("memory", ["constant beside the depth of the document and those strings"]),
        ("endless streams", ["no: some values are certain only at the end of the document"]),
    ]
