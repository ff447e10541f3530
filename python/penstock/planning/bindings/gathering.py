"""What gathers the bindings of a side: rows of values, then of pieces of a fragment.

Most bindings are plain: elements, of which paths without predicates lead to values and pieces. The
kernel writes their rows by a *layout* (``crates/kernel/src/message/binding.rs``). Any other binding
is a query, which constructs the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from penstock.planning import program as p
from penstock.planning.bindings.parts import FRAGMENT, OWNER, Key, Side
from penstock.planning.broker.encoding import node_test
from penstock.planning.sequences.programs import compile_sequences
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

CONTENT, TAG, QUOTED = "p", "t", "v"
"""Forms of pieces, which name their wrappers: content, attributes of the start tag, and characters
of an attribute. ``progressive/messages/fragment.rs`` reads them."""

_FIRST_KEY = ord("0")
"""The character before the values of the first key: ``rows/gathered.rs`` reads them."""
_NUMBER_NAME = "n"
"""The attribute of a last piece that has the number of the binding: ``gathered.rs`` takes it."""
_VALUE, _NUMBER = "#value", "#number"
"""Variables that no query can have."""
_VALUES, _NODES, _ATTRIBUTES, _QUOTED, _TEXTS = range(5)
"""Forms of columns in a layout."""


class Piece(NamedTuple):
    """A part of a fragment: its form, and the expression that gives it."""

    form: str
    source: Any


def whole_side(side: Side, output: q.Sequences) -> bytes:
    """Return the program that gives the values and the whole node of each binding."""
    return gathering_program(
        side, side.conditions, side.keys, [Piece(FRAGMENT, _node(side))], output
    )


def gathering_program(
    side: Side,
    conditions: Sequence[Any],
    keys: Sequence[Key],
    pieces: Sequence[Piece],
    output: q.Sequences,
) -> bytes:
    """Return the program that gives values and pieces of what passes conditions.

    The last piece is no attribute, since it gets the number of the node in the loop.
    """
    body = _query(side, conditions, keys, pieces)
    layout = None if conditions else _layout(side, keys, pieces)
    gathering = replace(output, body=body)
    return compile_sequences(gathering, side.stream, has_items=True, layout=layout)


def _node(side: Side) -> Any:
    node: Any = q.Variable(side.loop.variable)
    if side.bound is NodeKind.ATTRIBUTE:
        return q.NewElement(q.Name(OWNER), content=(node,))
    return node


def _query(
    side: Side, conditions: Sequence[Any], keys: Sequence[Key], pieces: Sequence[Piece]
) -> q.Flwor:
    tests = [q.Where(condition) for condition in conditions]
    values = [_values(key, place) for place, key in enumerate(keys)]
    last = len(pieces) - 1
    wrapped = [_wrapped(piece, place == last) for place, piece in enumerate(pieces)]
    loop = replace(side.loop, position=_NUMBER)
    return q.Flwor((loop, *tests), q.Sequence((*values, *wrapped)))


def _values(key: Key, number: int) -> q.Flwor:
    """Return the values of a key, each with the number of the key before it."""
    variable = f"{_VALUE}{number}"
    value: Any = q.Variable(variable)
    if key.is_number:
        # Equal numbers have one text: there is no negative zero after the addition.
        value = q.Arithmetic("+", x.Call("number", (value,)), q.Atomic("double", "0"))
    prefix: Any = q.Atomic("string", chr(_FIRST_KEY + number))
    return q.Flwor((q.For(variable, key.source),), x.Call("concat", (prefix, value)))


def _wrapped(piece: Piece, is_last: bool) -> q.NewElement:
    content = [piece.source]
    if piece.form == QUOTED:
        content = [q.NewAttribute(q.Name("a"), (piece.source,))]
    if is_last:
        content.insert(0, q.NewAttribute(q.Name(_NUMBER_NAME), (q.Variable(_NUMBER),)))
    return q.NewElement(q.Name(_name(piece, is_last)), content=tuple(content))


def _name(piece: Piece, is_last: bool) -> str:
    """Return the name of a wrapper; those of last pieces tell so."""
    return piece.form.upper() if is_last and piece.form != FRAGMENT else piece.form


def _layout(side: Side, keys: Sequence[Key], pieces: Sequence[Piece]) -> bytes | None:
    """Return the layout of bindings; None if they are not plain."""
    columns = []
    for place, key in enumerate(keys):
        source = None if key.is_number else _column(_VALUES, _FIRST_KEY + place, key.source, side)
        columns.append(source)
    for place, piece in enumerate(pieces):
        name = ord(_name(piece, place == len(pieces) - 1))
        source, is_text = _text(piece.source)
        form = {TAG: _ATTRIBUTES, QUOTED: _QUOTED}.get(piece.form, _TEXTS if is_text else _NODES)
        columns.append(_column(form, name, source, side))
    known = [column for column in columns if column is not None]
    if len(known) < len(columns) or side.bound is not NodeKind.ELEMENT:
        return None
    return p.varint(len(known)) + b"".join(known)


def _text(source: Any) -> tuple[Any, bool]:
    """Return the nodes whose string values an expression gives, or the nodes that it gives."""
    match source:
        case x.Call(function="data" | "string", arguments=(argument,)):
            return argument, True
        case _:
            return source, False


def _column(form: int, letter: int, source: Any, side: Side) -> bytes | None:
    """Return a column; None if its nodes cannot be found step by step, in order."""
    if source == q.Sequence(()):
        # A piece that only ends the binding has no nodes: no attribute has attributes.
        nothing = NodeTest(NodeKind.ATTRIBUTE)
        steps = [x.Step(x.Here(), Axis.ATTRIBUTE, nothing)] * 2
        return p.varints(form, letter, 2) + b"".join(map(_step, steps))
    steps = []
    while isinstance(source, x.Step):
        if source.predicates or not _is_plain(source.axis, source.test):
            return None
        steps.append(source)
        source = source.base
    steps.reverse()
    if source != q.Variable(side.loop.variable):
        return None
    elements = steps[:-1] if steps and steps[-1].axis is Axis.ATTRIBUTE else steps
    # Below one of several descendants there may be others of them.
    if any(step.axis is not Axis.CHILD for step in elements[:-1]):
        return None
    return p.varints(form, letter, len(steps)) + b"".join(map(_step, steps))


def _is_plain(axis: Axis, test: NodeTest) -> bool:
    if test.kind is NodeKind.TEXT:
        return axis in (Axis.CHILD, Axis.DESCENDANT)
    if test.local is None or test.uris is None or len(test.uris) != 1 or "*" in test.uris[0]:
        return False
    if test.kind is NodeKind.ATTRIBUTE:
        return axis is Axis.ATTRIBUTE
    return test.kind is NodeKind.ELEMENT and axis in (Axis.CHILD, Axis.DESCENDANT)


def _step(step: x.Step) -> bytes:
    return p.varint(p.AXES[step.axis]) + node_test(step.test)
