"""The bytes of a query for the broker, at the end of its program.

They are the binding path, the condition and the message; the code of each piece stands alone, so
that equal pieces of different queries are equal bytes. The reader is
``crates/kernel/src/broker/program.rs``; the two change together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from penstock.planning import program as p
from penstock.planning.broker.queries import (
    NODE,
    SET,
    All,
    Attribute,
    BindingStep,
    Brokered,
    Characters,
    Compare,
    Condition,
    Content,
    Element,
    Exists,
    Loop,
    Negated,
    Path,
    Piece,
    Some,
    Step,
)
from penstock.planning.sequences.encoding import encode
from penstock.planning.sequences.streams import CURRENT
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest

_ALL, _SOME, _NOT, _EXISTS, _COMPARE = range(5)
_CHARACTERS, _PIECE, _LOOP, _ELEMENT = range(4)
_ELEMENT_FIELD, _TEXT_FIELD, _ATTRIBUTE_FIELD = range(3)
_OPERATORS = {name: code for code, name in enumerate("= != < <= > >=".split())}
_WRAPPER = q.Name("w")
_ATTRIBUTE = q.Name("a")


def encode_brokered(query: Brokered) -> bytes:
    """Return the bytes of a query for the broker."""
    untyped = "false" if query.is_lenient else "error"
    binding = [_binding_step(step) for step in query.binding]
    return b"".join(
        [
            p.varint(query.is_lenient),
            p.varint(len(binding)),
            *binding,
            _condition(query.condition),
            _content(query.message, untyped, NODE),
        ]
    )


def _binding_step(step: BindingStep) -> bytes:
    return _step(step.step) + _condition(step.condition)


def _step(step: Step) -> bytes:
    return p.varint(step.axis is Axis.DESCENDANT) + node_test(step.test)


def node_test(test: NodeTest) -> bytes:
    """Return the bytes of a node test that stands alone."""
    local = b"\0" if test.local is None else b"\1" + p.constant_bytes(test.local)
    uris = b"\0"
    if test.uris is not None:
        listed = b"".join([p.constant_bytes(uri) for uri in test.uris])
        uris = b"\1" + p.varint(len(test.uris)) + listed
    return p.varint(p.KINDS[test.kind]) + local + uris


def _counted(parts: list[bytes]) -> bytes:
    return p.varint(len(parts)) + b"".join(parts)


def _path(path: Path) -> bytes:
    steps = _counted([_step(step) for step in path.steps])
    if path.field is None:
        return steps + p.varint(_ELEMENT_FIELD)
    if path.field.kind is NodeKind.TEXT:
        return steps + p.varint(_TEXT_FIELD)
    return steps + p.varint(_ATTRIBUTE_FIELD) + node_test(path.field)


def _condition(condition: Condition) -> bytes:
    match condition:
        case All(parts=parts):
            return p.varint(_ALL) + _counted([_condition(part) for part in parts])
        case Some(parts=parts):
            return p.varint(_SOME) + _counted([_condition(part) for part in parts])
        case Negated(part=part):
            return p.varint(_NOT) + _condition(part)
        case Exists(path=path):
            return p.varint(_EXISTS) + _path(path)
        case Compare(path=path, operator=operator, constant=constant, is_number=is_number):
            head = p.varint(_COMPARE) + _path(path)
            codes = p.varints(_OPERATORS[operator], is_number)
            return head + codes + p.constant_bytes(constant)


def _content(content: Content, untyped: str, variable: str) -> bytes:
    match content:
        case Characters(text=text):
            return p.varint(_CHARACTERS) + p.constant_bytes(text)
        case Piece(expression=expression, steps=steps):
            wrapped = q.NewElement(_WRAPPER, content=(expression,))
            path = b"\0" if steps is None else b"\1" + _counted([_step(step) for step in steps])
            return p.varint(_PIECE) + _code(wrapped, untyped, variable) + path
        case Loop(content=inner, is_set=is_set):
            own = SET if is_set else NODE
            parts = [_content(part, untyped, own) for part in inner]
            return p.varints(_LOOP, is_set) + _counted(parts)
        case Element(name=name, attributes=attributes, content=inner):
            parts = [_content(part, untyped, variable) for part in inner]
            written = [_attribute(attribute, untyped) for attribute in attributes]
            head = p.varint(_ELEMENT) + p.constant_bytes(name)
            return head + _counted(written) + _counted(parts)


def _attribute(attribute: Attribute, untyped: str) -> bytes:
    parts = []
    for part in attribute.value:
        if isinstance(part, Characters):
            parts.append(p.varint(_CHARACTERS) + p.constant_bytes(part.text))
            continue
        value = q.NewAttribute(_ATTRIBUTE, (part.expression,))
        wrapped = q.NewElement(_WRAPPER, content=(value,))
        parts.append(p.varint(_PIECE) + _code(wrapped, untyped, NODE))
    return p.constant_bytes(attribute.name) + _counted(parts)


@lru_cache(maxsize=4096)
def _code(expression: Any, untyped: str, variable: str) -> bytes:
    query = q.Sequences(expression, untyped=untyped)
    code = encode(query, [(variable, expression)], [CURRENT])
    return p.varint(len(code)) + code
