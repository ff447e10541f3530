"""A value of at most one node is looked at where that node is.

``contains(@a, 'x')`` reads the first ``@a``, and there is at most one; so it is ``@a[contains(.,
'x')]``, which is decided with the attribute and shared with every other query about it. Where the
comparison holds for a missing node, as ``string(@a) != 'x'`` does, it is ``not(@a[. = 'x'])``.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.planning.rewrites.constants import fold_constants
from penstock.planning.traversal import Traversal
from penstock.planning.values import is_true
from penstock.twigs import (
    Axis,
    Block,
    BooleanOf,
    Call,
    Compare,
    Condition,
    Exists,
    Holds,
    Not,
    Query,
    Scalar,
    Slot,
    StringOf,
    TwigNode,
    Value,
    ValueType,
)
from penstock.twigs.logic import conjunction


def place_single_values(query: Query) -> Query:
    """Return the query with comparisons of single nodes moved to those nodes."""
    return _Placing(query).query(query)


class _Placing(Traversal):
    def __init__(self, query: Query) -> None:
        self.constants = (*query.constants, "")
        self.empty = Slot(len(query.constants), ValueType.STRING)

    def leave_condition(self, condition: Condition) -> Condition:
        if not isinstance(condition, Compare | Holds):
            return condition
        node = _only_read(condition)
        if node is None or not _is_single(node):
            return condition
        here = _with(condition, StringOf())
        if self.value_of(_with(condition, self.empty)):
            return Not(_exists(node, Not(here)))
        return _exists(node, here)

    def value_of(self, condition: Condition) -> bool:
        """Return the value of a condition on constants."""
        value = Value(BooleanOf(condition), ValueType.BOOLEAN)
        folded = fold_constants(Query((Block(()),), value, self.constants))
        assert isinstance(folded.output, Value)
        assert isinstance(folded.output.scalar, Slot)
        return is_true(folded.constants[folded.output.scalar.index])


def _only_read(condition: Compare | Holds) -> TwigNode | None:
    """Return the path of the one string that a condition is about, all else being constant."""
    scalars = (
        [condition.scalar] if isinstance(condition, Holds) else [condition.left, condition.right]
    )
    reads: list[Scalar] = []
    while scalars:
        scalar = scalars.pop()
        if isinstance(scalar, Call):
            scalars += scalar.arguments
        elif not isinstance(scalar, Slot):
            reads.append(scalar)
    if len(reads) != 1 or not isinstance(reads[0], StringOf) or reads[0].absolute:
        return None
    return reads[0].node


def _is_single(node: TwigNode) -> bool:
    """Return whether a path reaches one attribute at most, or none but the context node."""
    if len(node.branches) > 1 or any(branch.optional for branch in node.branches):
        return False
    if node.axis is Axis.ATTRIBUTE:
        uris = node.test.uris
        is_exact = uris is not None and len(uris) == 1 and "*" not in uris[0]
        return is_exact and node.test.local is not None and not node.branches
    return node.axis is Axis.SELF and all(_is_single(branch.node) for branch in node.branches)


def _with(condition: Compare | Holds, string: Scalar) -> Condition:
    """Return the condition with another string in the place of the one it reads."""
    if isinstance(condition, Holds):
        return Holds(_put(condition.scalar, string))
    return Compare(condition.operator, _put(condition.left, string), _put(condition.right, string))


def _put(scalar: Scalar, string: Scalar) -> Scalar:
    match scalar:
        case Call(function=function, arguments=arguments):
            return Call(function, tuple([_put(argument, string) for argument in arguments]))
        case StringOf():
            return string
        case _:
            return scalar


def _exists(node: TwigNode, leaf: Condition) -> Condition:
    """Return that the path reaches a node where ``leaf`` holds."""
    if node.branches:
        leaf = _exists(node.branches[0].node, leaf)
    guarded = replace(node, where=conjunction(node.where, leaf), variable=None, branches=())
    return Exists(guarded)
