"""What a join is made of, when its events are decided, and what is held until then."""

from __future__ import annotations

from penstock.planning.templates.compiling import MICROSECONDS, compile_join
from penstock.planning.templates.rows import JoinQuery, Row, WitnessTree
from penstock.planning.templates.shapes import TOP, Template
from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.twigs import JoinKind, Query

Section = tuple[str, list[str]]


def explain_join(query: Query) -> list[Section]:
    """Return titles and lines: the rows of a query, when events come, and what waits for them.

    Raises:
        QueryError: The normal form of a path would be too large.
    """
    compiled = compile_join(query)
    if compiled.alone is not None:
        return [
            ("variables", _variables(compiled.alone.tree)),
            ("decided", ["at the end of each document"]),
            ("held", ["nothing from one document to the next"]),
        ]
    sections = []
    for number, row in enumerate(compiled.rows, start=1):
        sections.append((f"operator {number}", _row(row)))
    sections.append(("decided", [_decided(row) for row in compiled.rows]))
    sections.append(("held", _held(compiled)))
    sections.append(("memory", [_memory(compiled)]))
    return sections


def join_verdict(query: Query) -> Verdict:
    """Return the verdict on a query that joins documents; its streams may have no end.

    Raises:
        QueryError: The normal form of a path would be too large.
    """
    compiled = compile_join(query)
    if compiled.alone is not None:
        return Verdict(
            decided=Decided.DOCUMENT,
            when=("at the end of each document",),
            held=("nothing from one document to the next",),
            memory="one document",
            cost=Cost.FLAT,
            suits_endless=True,
            endless="yes: documents are read one by one",
        )
    is_bounded = all(row.window_us is not None for row in compiled.rows)
    return Verdict(
        decided=Decided.DOCUMENT,
        when=tuple([_decided(row) for row in compiled.rows]),
        held=tuple(_held(compiled)),
        memory=_memory(compiled),
        cost=Cost.KEPT,
        suits_endless=is_bounded,
        endless="yes: what the windows have passed is dropped, where the engine has a lateness"
        if is_bounded
        else "no: a window is infinite",
    )


def _memory(compiled: JoinQuery) -> str:
    if any(row.window_us is None for row in compiled.rows):
        return "grows without end: a window is infinite"
    return "grows with what the windows cover, and with the lateness"


def print_template(template: Template) -> str:
    """Return a template on one line: both trees of slots, and which of them join."""
    joins = ", ".join(f"{left} = {right}" for left, right in template.joins)
    return f"left {_tree(template.left)}, right {_tree(template.right)}, joining {joins}"


def _tree(parents: tuple[int, ...]) -> str:
    def subtree(slot: int) -> str:
        below = [subtree(child) for child, parent in enumerate(parents) if parent == slot]
        return f"{slot}({' '.join(below)})" if below else str(slot)

    return subtree(parents.index(TOP))


def _row(row: Row) -> list[str]:
    lines = [f"{row.kind.value}{_window(row)}", f"template: {print_template(row.template)}"]
    for side, tree in (("left", row.left), ("right", row.right)):
        if tree.variables[0].is_partial:
            lines.append(f"{side}: partial matches of the operator before")
        lines += [f"{side} {line}" for line in _variables(tree)]
    if row.terms:
        lines.append(f"terms beside the value joins: {len(row.terms)}")
    return lines


def _variables(tree: WitnessTree) -> list[str]:
    lines = []
    for place, variable in enumerate(tree.variables):
        if not variable.is_partial:
            slot = f"slot {tree.slots.index(place)}" if place in tree.slots else "kept beside"
            stream = "" if variable.stream is None else f" of {variable.stream}"
            lines.append(f"{slot}: {variable.key}{stream}")
    return lines


def _window(row: Row) -> str:
    return "" if row.window_us is None else f" within {row.window_us / MICROSECONDS:.15g} s"


def _decided(row: Row) -> str:
    if row.kind is JoinKind.NOT_FOLLOWED_BY:
        return f"{row.kind.value}: when event time has passed the window"
    return f"{row.kind.value}: when the later of the two arrives, at its end"


def _held(compiled: JoinQuery) -> list[str]:
    lines = []
    for row in compiled.rows:
        left, right = _source(row.left), _source(row.right)
        if row.window_us is None:
            lines.append(f"{left} and {right}: for ever")
        elif row.kind is JoinKind.JOIN:
            lines.append(f"{left} and {right}: until event time has passed them by the window")
        else:
            lines.append(f"{left}: until event time has passed it by the window")
            lines.append(f"{right}: while an earlier left side may still arrive")
    return list(dict.fromkeys(lines))


def _source(tree: WitnessTree) -> str:
    if tree.variables[0].is_partial:
        return "partial matches"
    return f"witnesses of {tree.stream or 'all streams'}"
