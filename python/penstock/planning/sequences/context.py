"""What an expression over sequences depends on: variables, the context item, the document."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis
from penstock.twigs.sequence_parts import all_parts, map_parts, parts_of

FORWARD = {
    Axis.SELF,
    Axis.CHILD,
    Axis.DESCENDANT,
    Axis.DESCENDANT_OR_SELF,
    Axis.ATTRIBUTE,
}
"""The axes that stay inside a node."""

_OF_DOCUMENT = {"root", "id", "idref", "lang", "base-uri", "document-uri", "nilled"}
"""Functions that look around a node."""

_BOOLEAN = set(
    "not boolean exists empty true false contains starts-with ends-with matches deep-equal".split()
)


def free_variables(part: Any) -> set[str]:
    """Return the variables that a part reads and does not bind."""
    used = {inner.name for inner in all_parts(part) if isinstance(inner, q.Variable)}
    return used - {name for inner in all_parts(part) for name in _bound_by(inner)}


def _bound_by(part: Any) -> Iterator[str]:
    match part:
        case q.For(variable=variable, position=position):
            yield variable
            if position is not None:
                yield position
        case q.Let(variable=variable):
            yield variable
        case q.Case(variable=str() as variable):
            yield variable


def has_context(part: Any) -> bool:
    """Return whether a part reads the context item, position or size around it."""
    return any(True for _ in _context_readers(part))


def _context_readers(part: Any) -> Iterator[Any]:
    match part:
        case x.Here() | x.Position() | x.Last():
            yield part
        case x.Step(base=base) | x.Filter(base=base) | q.Each(base=base):
            yield from _context_readers(base)
        case _:
            for inner in parts_of(part):
                yield from _context_readers(inner)


def reads_root(part: Any) -> bool:
    """Return whether a part reads the document of the context item around it."""
    match part:
        case x.Root():
            return True
        case x.Step(base=base) | x.Filter(base=base) | q.Each(base=base):
            # Inside a predicate, `/` is the document of the nodes that are tested.
            return reads_root(base)
        case _:
            return any(map(reads_root, parts_of(part)))


def replace_context(part: Any, item: Any) -> Any:
    """Return a part with the context item around it replaced by an expression."""
    match part:
        case x.Here():
            return item
        case x.Step(base=base, axis=axis, test=test, predicates=predicates):
            return x.Step(replace_context(base, item), axis, test, predicates)
        case x.Filter(base=base, predicates=predicates):
            return x.Filter(replace_context(base, item), predicates)
        case q.Each(base=base, body=body):
            return q.Each(replace_context(base, item), body)
        case _:
            return map_parts(part, lambda inner: replace_context(inner, item))


def is_downward(part: Any) -> bool:
    """Return whether nothing in a part looks outside the nodes that it starts from."""
    for inner in all_parts(part):
        if isinstance(inner, x.Step) and inner.axis not in FORWARD:
            return False
        if isinstance(inner, x.Call) and inner.function in _OF_DOCUMENT:
            return False
    return True


def reads_documents(part: Any) -> bool:
    """Return whether a part starts from a document, whatever its variables are bound to."""
    return any(isinstance(inner, x.Root | q.Stream) for inner in all_parts(part))


def is_truth(predicate: Any) -> bool:
    """Return whether a predicate is certainly no position, and asks for none."""
    return _is_truth(predicate) and not _asks_position(predicate)


def _is_truth(part: Any) -> bool:
    match part:
        case x.Step() | x.And() | x.Or() | x.Root() | q.Stream():
            return True
        case q.GeneralCompare() | q.ValueCompare() | q.NodeCompare() | q.Quantified():
            return True
        case q.InstanceOf() | q.CastableAs() | q.Combine() | x.Union():
            return True
        case q.Atomic(type=kind):
            return kind == "string"
        case x.Call(function=function):
            return function in _BOOLEAN
        case x.Filter(base=base):
            return _is_truth(base)
        case q.If(then=then, otherwise=otherwise):
            return _is_truth(then) and _is_truth(otherwise)
        case _:
            return False


def _asks_position(part: Any) -> bool:
    readers = _context_readers(part)
    return any(isinstance(reader, x.Position | x.Last) for reader in readers)
