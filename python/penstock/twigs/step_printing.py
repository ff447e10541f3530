"""The printed forms of steps and slots, the same in twigs and in expressions."""

from __future__ import annotations

from collections.abc import Callable

from penstock.twigs.nodetests import Axis, NodeKind, NodeTest
from penstock.twigs.patterns import Slot

SlotPrinter = Callable[[Slot], str]

INFIX = frozenset({"+", "-", "*", "div", "mod"})
"""The operators that are written between their operands and in parentheses."""

_KIND_TESTS = {
    NodeKind.ANY: "node",
    NodeKind.DOCUMENT: "document",
    NodeKind.TEXT: "text",
    NodeKind.COMMENT: "comment",
    NodeKind.INSTRUCTION: "processing-instruction",
}
_PRINCIPAL = {Axis.ATTRIBUTE: NodeKind.ATTRIBUTE, Axis.NAMESPACE: NodeKind.NAMESPACE}


def print_slot(slot: Slot) -> str:
    """Return a slot by its number."""
    return f"?{slot.index}"


def print_step(axis: Axis, test: NodeTest) -> str:
    """Return an axis and a node test."""
    return f"{axis.value}::{_test(axis, test)}"


def _test(axis: Axis, test: NodeTest) -> str:
    if test.kind in _KIND_TESTS:
        target = "" if test.local is None else f"'{test.local}'"
        return f"{_KIND_TESTS[test.kind]}({target})"
    name = _name(test)
    if test.kind is _PRINCIPAL.get(axis, NodeKind.ELEMENT):
        return name
    return f"{test.kind.value}({name})"


def _name(test: NodeTest) -> str:
    local = "*" if test.local is None else test.local
    if test.uris is None:
        return local if test.local is None else f"*:{local}"
    if test.uris == ("",) and test.local is not None:
        return local
    return f"{{{' | '.join(test.uris)}}}{local}"
