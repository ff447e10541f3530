"""Paths: steps where they can be, other expressions evaluated at every node elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.functions import STRINGS, TRUTHS
from penstock.languages.xquery.lowering.types import TypeLowering
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import ANY_NODE, BELOW, Axis, NodeKind, NodeTest
from penstock.twigs.sequence_parts import parts_of


class PathLowering(TypeLowering):
    """Adds paths to the lowering."""

    def path(self, path: y.Slash) -> q.Item:
        """Return a path, from its first step to its last."""
        rights: list[y.Expression] = []
        left: y.Expression = path
        while isinstance(left, y.Slash):
            rights.append(left.right)
            left = left.left
        item = self.lower(left)
        with self.focus():
            for right in reversed(rights):
                item = self._slash(item, right)
        return item

    def _slash(self, base: q.Item, right: y.Expression) -> q.Item:
        if isinstance(right, y.Step):
            return self.step(base, right)
        body = self.lower(right)
        match body:
            case x.Here():
                return add_step(base, Axis.SELF, ANY_NODE, ())
            case x.Filter(base=x.Here(), predicates=predicates):
                return add_step(base, Axis.SELF, ANY_NODE, predicates)
            case x.Step():
                return _rebased(body, base) or q.Each(base, body)
        return q.Each(base, body)

    def step(self, base: q.Item, step: y.Step) -> q.Item:
        """Return one axis step from a base."""
        if isinstance(base, x.Here):
            self.check_context("a path without a start", step.span)
        test, predicates = self._test(step)
        with self.focus():
            predicates += tuple(self.lower(predicate) for predicate in step.predicates)
        return add_step(base, step.axis, test, predicates)

    def _test(self, step: y.Step) -> tuple[NodeTest, tuple[q.Item, ...]]:
        """Return the node test of a step, and the predicates that say what it cannot."""
        if isinstance(step.test, y.NameTest):
            return self.names.test(step.test, step.axis), ()
        test, element = self.kind_test(step.test)
        if element is None:
            return test, ()
        # A document with this element, and no other one beside it.
        any_element = NodeTest(NodeKind.ELEMENT)
        children = apply("count", x.Step(x.Here(), Axis.CHILD, any_element))
        is_one = q.GeneralCompare("=", children, q.Atomic("integer", "1"))
        parts: tuple[q.Item, ...] = (x.Step(x.Here(), Axis.CHILD, element), is_one)
        return test, (x.And(parts),)

    def filter(self, expression: y.Filter) -> q.Item:
        """Return a primary expression with predicates."""
        base = self.lower(expression.primary)
        with self.focus():
            predicates = tuple(self.lower(predicate) for predicate in expression.predicates)
        return x.Filter(base, predicates)


def apply(function: str, *arguments: q.Item) -> x.Call:
    """Return a call of a built-in function."""
    return x.Call(function, arguments)


def add_step(base: q.Item, axis: Axis, test: NodeTest, predicates: tuple[q.Item, ...]) -> x.Step:
    """Return a step from a base, in one with a ``//`` that it ends with.

    ``//a`` is one step. ``//a[1]`` counts the children of each node, and is two.
    """
    match base:
        case x.Step(axis=Axis.DESCENDANT_OR_SELF, predicates=()) if (
            base.test == ANY_NODE and axis in BELOW and not any(map(may_count, predicates))
        ):
            return x.Step(base.base, BELOW[axis], test, predicates)
    return x.Step(base, axis, test, predicates)


def may_count(predicate: q.Item) -> bool:
    """Return whether a predicate may be a number, or asks for positions in its own focus."""
    if not _is_never_number(predicate):
        return True
    return any(isinstance(part, x.Position | x.Last) for part in own_parts(predicate))


def own_parts(item: q.Item) -> Iterator[q.Item]:
    """Yield an expression and its parts that are evaluated with its own context item."""
    waiting = [item]
    while waiting:
        part = waiting.pop()
        yield part
        match part:
            case x.Step(base=base) | x.Filter(base=base) | q.Each(base=base):
                waiting.append(base)
            case _:
                waiting += parts_of(part)


def _is_never_number(item: q.Item) -> bool:
    match item:
        case q.GeneralCompare() | q.ValueCompare() | q.NodeCompare() | q.Quantified():
            return True
        case x.And() | x.Or() | q.InstanceOf() | q.CastableAs():
            return True
        case x.Step() | x.Root() | x.Union() | q.Combine() | q.Stream():
            return True
        case x.Call(function=function):
            return function in TRUTHS or function in STRINGS
        case q.Atomic(type=kind):
            return kind in ("string", "boolean")
        case x.Filter(base=base):
            return _is_never_number(base)
        case q.Each(body=body):
            return _is_never_number(body)
        case q.If(then=then, otherwise=otherwise):
            return _is_never_number(then) and _is_never_number(otherwise)
        case q.Flwor(result=result):
            return _is_never_number(result)
        case q.Sequence(parts=parts):
            return all(map(_is_never_number, parts))
    return False


def _rebased(step: x.Step, base: q.Item) -> x.Step | None:
    """Return a chain of steps from the context item as one from a base; None if it is none."""
    match step.base:
        case x.Here():
            return add_step(base, step.axis, step.test, step.predicates)
        case x.Step() as inner:
            start = _rebased(inner, base)
            return None if start is None else replace(step, base=start)
    return None
