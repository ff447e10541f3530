"""How deep a query is nested, and how large a condition is."""

from __future__ import annotations

from penstock.twigs.expression_parts import parts_of
from penstock.twigs.expressions import Expression, Selection, Step
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest
from penstock.twigs.outputs import Value
from penstock.twigs.patterns import (
    And,
    AtRoot,
    BooleanOf,
    Branch,
    Call,
    Compare,
    Condition,
    Exists,
    Holds,
    NameOf,
    Not,
    Or,
    Scalar,
    StringOf,
    TwigNode,
)
from penstock.twigs.queries import Query

_Part = TwigNode | Branch | Condition | Scalar | Expression


def depth_of(query: Query) -> int:
    """Return the levels of steps, conditions and calls inside each other.

    A step that only says ``//`` is no level of its own: it melts into the next one.
    """
    deepest = 0
    waiting: list[tuple[_Part, int]] = []
    for block in query.blocks:
        waiting += [(alternative, 0) for alternative in block.alternatives]
    if isinstance(query.output, Value):
        waiting.append((query.output.scalar, 0))
    if isinstance(query.output, Selection):
        waiting += [(query.output.expression, 0)]
        waiting += [(nodes, 0) for _, nodes in query.output.beside]
    for join in query.joins:
        paths = [side.path for term in join.terms for side in (term.left, term.right)]
        waiting += [(path, 0) for path in paths if path is not None]
    while waiting:
        part, above = waiting.pop()
        level = above + _weight(part)
        deepest = max(deepest, level)
        waiting += [(inner, level) for inner in _inner(part)]
    return deepest


def size_of(part: Condition | Expression) -> int:
    """Return the number of parts that a condition or an expression is made of."""
    size = 0
    waiting: list[_Part] = [part]
    while waiting:
        size += 1
        waiting += _inner(waiting.pop())
    return size


def _weight(part: _Part) -> int:
    if isinstance(part, Branch | Exists):
        return 0
    if isinstance(part, TwigNode | Step) and part.axis is Axis.DESCENDANT_OR_SELF:
        return int(part.test != NodeTest(NodeKind.ANY))
    return 1


def _inner(part: _Part) -> tuple[_Part, ...]:
    match part:
        case TwigNode(where=where, branches=branches):
            return (where, *branches)
        case Branch(node=node) | Exists(node=node):
            return (node,)
        case And(parts=parts) | Or(parts=parts):
            return parts
        case Not(part=inner) | AtRoot(part=inner):
            return (inner,)
        case Compare(left=left, right=right):
            return left, right
        case Holds(scalar=scalar):
            return (scalar,)
        case StringOf(node=node) | NameOf(node=node):
            return () if node is None else (node,)
        case Call(arguments=arguments):
            return arguments
        case BooleanOf(condition=condition):
            return (condition,)
        case _ if isinstance(part, Expression):
            return parts_of(part)
        case _:
            return ()
