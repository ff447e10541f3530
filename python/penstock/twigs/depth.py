"""How deep a query is nested, and how large a condition is."""

from __future__ import annotations

from penstock.twigs.expressions import Branch, Exists, Expression, Selection, Step, TwigNode
from penstock.twigs.nodetests import ANY_NODE, Axis
from penstock.twigs.outputs import Value
from penstock.twigs.parts import Part, all_parts, parts_of
from penstock.twigs.queries import Query


def depth_of(query: Query) -> int:
    """Return the levels of steps, conditions and calls inside each other.

    A step that only says ``//`` is no level of its own: it melts into the next one.
    """
    deepest = 0
    waiting = [(part, 0) for part in roots_of(query)]
    while waiting:
        part, above = waiting.pop()
        level = above + _weight(part)
        deepest = max(deepest, level)
        waiting += [(inner, level) for inner in parts_of(part)]
    return deepest


def roots_of(query: Query) -> list[Part]:
    """Return the parts of a query that lie in no other part."""
    roots: list[Part] = [twig for block in query.blocks for twig in block.alternatives]
    if isinstance(query.output, Value):
        roots.append(query.output.atom)
    if isinstance(query.output, Selection):
        roots += [query.output.expression, *(nodes for _, nodes in query.output.beside)]
    for join in query.joins:
        paths = [side.path for term in join.terms for side in (term.left, term.right)]
        roots += [path for path in paths if path is not None]
    return roots


def size_of(part: Expression) -> int:
    """Return the number of parts that a condition or an expression is made of."""
    return sum(1 for _ in all_parts(part))


def _weight(part: Part) -> int:
    if isinstance(part, Branch | Exists):
        return 0
    if isinstance(part, TwigNode | Step) and part.axis is Axis.DESCENDANT_OR_SELF:
        return int(part.test != ANY_NODE)
    return 1
