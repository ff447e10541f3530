"""The three stages of a query over several streams, as a picture, and when its rows come."""

from __future__ import annotations

from penstock.planning.bindings.outlines import outline_of
from penstock.planning.bindings.parts import BindingJoin, Side
from penstock.planning.bindings.recognition import recognise
from penstock.planning.verdicts import Cost, Decided, Verdict
from penstock.twigs import Query
from penstock.twigs import sequences as q
from penstock.twigs.sequence_printing import print_item


def explain_bindings(query: Query) -> list[tuple[str, list[str]]]:
    """Return sections with the stages.

    Raises:
        QueryError: It is none that can be joined.
    """
    join, output = recognise(query)
    within = output.within_us
    return [
        ("plan", _picture(join)),
        ("bindings", [line for side in join.sides for line in _bindings(side, output)]),
        ("join", _equalities(join, output)),
        ("within", [] if within is None else [f"{within / 1_000_000:g} s of event time"]),
        ("message", [*_clauses(join, output), *_message(join, output)]),
    ]


def binding_verdict(query: Query) -> Verdict:
    """Return the verdict on a query over several streams.

    Raises:
        QueryError: It is none that can be joined.
    """
    join, output = recognise(query)
    held = [f"bindings of ${side.loop.variable}, in memory and in files" for side in join.sides]
    is_bounded = output.within_us is not None
    return Verdict(
        decided=Decided.END,
        when=("every tuple when the last of its bindings is complete, or in clean-up",),
        held=tuple(held),
        memory="bounded by JoinOptions.state_bytes_max; more goes to files",
        cost=Cost.KEPT,
        suits_endless=is_bounded,
        endless="yes: what is too old is dropped"
        if is_bounded
        else "no: all bindings are kept; bound them with within='2 h'",
    )


def _picture(join: BindingJoin) -> list[str]:
    """Return the stages as a tree: streams on the left, the message on the right."""
    names = [side.stream for side in join.sides]
    twigs = [f"twig ${side.loop.variable}" for side in join.sides]
    widths = max(map(len, names)), max(map(len, twigs))
    last = len(names) - 1
    lines = []
    for number, (name, twig) in enumerate(zip(names, twigs, strict=True)):
        branch = "┐" if number == 0 else "┘" if number == last else "┤"
        tail = " ├─► join ─► message ─► rows" if number == last else ""
        lines.append(f"{name:<{widths[0]}} ─► {twig:<{widths[1]}} ─{branch}{tail}")
    lines[-1] = lines[-1].replace("┘ ├─►", "┴─►")
    return lines


def _bindings(side: Side, output: q.Sequences) -> list[str]:
    loop = side.loop
    lines = [f"${loop.variable} in {print_item(loop.source, output)}"]
    lines += [f"  where {print_item(condition, output)}" for condition in side.conditions]
    lines += [f"  joined by {print_item(key.source, output)}" for key in side.keys]
    return lines


def _equalities(join: BindingJoin, output: q.Sequences) -> list[str]:
    lines = []
    for (left, left_key), (right, right_key) in join.edges:
        sides = join.sides[left], join.sides[right]
        if left_key == len(sides[0].keys):
            first, second = (side.loop.variable for side in sides)
            lines.append(f"${first} and ${second} from one document")
            continue
        keys = sides[0].keys[left_key], sides[1].keys[right_key]
        equality = " = ".join(print_item(key.source, output) for key in keys)
        lines.append(equality + (", as numbers" if keys[0].is_number else ""))
    return lines


def _message(join: BindingJoin, output: q.Sequences) -> list[str]:
    is_outlined = outline_of(join, output) is not None
    return [
        f"return {print_item(join.result, output)}",
        "  put together from parts of single loops"
        if is_outlined
        else "  evaluated for each tuple",
    ]


def _clauses(join: BindingJoin, output: q.Sequences) -> list[str]:
    lines = []
    for clause in join.clauses:
        match clause:
            case q.For(variable=variable, source=source):
                lines.append(f"for ${variable} in {print_item(source, output)}")
            case q.Let(variable=variable, source=source):
                lines.append(f"let ${variable} := {print_item(source, output)}")
            case q.Where(test=test):
                lines.append(f"where {print_item(test, output)}")
    return lines
