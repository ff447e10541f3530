"""Node-sets as unions of forward paths, wherever they stand in an expression."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.forward.alternatives import (
    ANY_TEST,
    REVERSE,
    Alternative,
    nothing,
)
from penstock.twigs import Axis
from penstock.twigs.queries import NoTwigError

if TYPE_CHECKING:
    from penstock.languages.xpath.forward.walking import Walk


def forward(walk: Walk, expression: s.Expression, at_root: bool) -> s.Expression:
    """Return an expression with the same value, without reverse axes.

    With ``at_root`` the context node is the document node.

    Raises:
        NoTwigError: A path goes up from a context node that this does not know.
    """
    if not looks_back(expression):
        return expression
    match expression:
        case s.Path() | s.Union() | s.Filter():
            return _union(paths_of(walk, expression, at_root), expression.span)
        case s.Logical(parts=parts):
            return replace(expression, parts=tuple([forward(walk, p, at_root) for p in parts]))
        case s.Binary(left=left, right=right):
            sides = forward(walk, left, at_root), forward(walk, right, at_root)
            return replace(expression, left=sides[0], right=sides[1])
        case s.Negate(operand=operand):
            return replace(expression, operand=forward(walk, operand, at_root))
        case s.FunctionCall(arguments=arguments):
            inner = tuple([forward(walk, argument, at_root) for argument in arguments])
            return replace(expression, arguments=inner)
        case _:
            return expression


def paths_of(
    walk: Walk, expression: s.Expression, at_root: bool, rest: tuple[s.Step, ...] = ()
) -> list[Alternative]:
    """Return the forward paths that steps from the nodes of an expression amount to.

    Raises:
        NoTwigError: The nodes are not those of paths.
    """
    match expression:
        case s.Path(start=None, absolute=absolute, steps=steps):
            return walk.follow(Alternative(absolute or at_root), (*steps, *rest))
        case s.Path(start=start, steps=steps) if start is not None:
            return paths_of(walk, start, at_root, (*steps, *rest))
        case s.Filter(primary=primary, predicates=predicates, span=span):
            passing = s.Step(Axis.SELF, ANY_TEST, predicates, span, span)
            return paths_of(walk, primary, at_root, (passing, *rest))
        case s.Union(parts=parts):
            return [path for part in parts for path in paths_of(walk, part, at_root, rest)]
        case _:
            raise NoTwigError("the nodes of a function are not those of a path")


def looks_back(expression: s.Expression) -> bool:
    """Return whether a reverse axis stands anywhere in an expression."""
    return any(isinstance(part, s.Step) and part.axis in REVERSE for part in s.nodes_in(expression))


def _union(paths: list[Alternative], span: s.Span) -> s.Expression:
    if any(path.guards for path in paths):
        raise NoTwigError("a path goes up from where a value is taken")
    parts = tuple(dict.fromkeys([s.Path(path.absolute, path.steps, span) for path in paths]))
    if not parts:
        return nothing(span)
    return parts[0] if len(parts) == 1 else s.Union(parts, span)
