"""One walk over a query for all rewrites: from the leaves up, rebuilding only what changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import is_
from typing import TypeVar

from penstock.twigs import (
    And,
    AtRoot,
    Block,
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
    Query,
    Scalar,
    StringOf,
    TwigNode,
    Value,
)


class Traversal:
    """Rebuilds a query bottom up; a rewrite overrides the ``leave_`` methods that it needs.

    Each gets a part whose own parts are already rewritten and returns what stands in its place.
    A condition comes before the branches of its node, as in the printed form.
    Output templates other than ``Value`` contain nothing that a rewrite looks at.
    """

    def query(self, query: Query) -> Query:
        """Return the query rewritten; the same object where nothing changed."""
        blocks = []
        for block in query.blocks:
            blocks.append(self.block(block))
        output = query.output
        if isinstance(output, Value):
            scalar = self.scalar(output.scalar)
            if scalar is not output.scalar:
                output = replace(output, scalar=scalar)
        if output is query.output and _same(blocks, query.blocks):
            return query
        return replace(query, blocks=tuple(blocks), output=output)

    def block(self, block: Block) -> Block:
        """Return the block with each alternative rewritten."""
        alternatives = []
        for alternative in block.alternatives:
            alternatives.append(self.twig(alternative))
        return self.leave_block(block, alternatives)

    def leave_block(self, block: Block, alternatives: list[TwigNode]) -> Block:
        """Return the block with these alternatives."""
        if _same(alternatives, block.alternatives):
            return block
        return replace(block, alternatives=tuple(alternatives))

    def twig(self, node: TwigNode) -> TwigNode:
        """Return a twig rewritten, its branches and its condition first."""
        where = self.condition(node.where)
        branches = []
        for branch in node.branches:
            below = self.twig(branch.node)
            branches.append(branch if below is branch.node else Branch(below, branch.optional))
        rebuilt = node
        if where is not node.where or not _same(branches, node.branches):
            rebuilt = TwigNode(node.axis, node.test, where, node.variable, tuple(branches))
        return _keep(node, self.leave_twig(rebuilt))

    def condition(self, condition: Condition) -> Condition:
        """Return a condition rewritten, its parts first."""
        rebuilt = condition
        match condition:
            case And(parts=parts) | Or(parts=parts):
                inner = []
                for part in parts:
                    inner.append(self.condition(part))
                if not _same(inner, parts):
                    rebuilt = type(condition)(tuple(inner))
            case Not(part=part) | AtRoot(part=part):
                new = self.condition(part)
                if new is not part:
                    rebuilt = type(condition)(new)
            case Exists(node=node):
                twig = self.twig(node)
                if twig is not node:
                    rebuilt = Exists(twig)
            case Compare(operator=operator, left=left, right=right):
                first, second = self.scalar(left), self.scalar(right)
                if first is not left or second is not right:
                    rebuilt = Compare(operator, first, second)
            case Holds(scalar=scalar):
                value = self.scalar(scalar)
                if value is not scalar:
                    rebuilt = Holds(value)
        return _keep(condition, self.leave_condition(rebuilt))

    def scalar(self, scalar: Scalar) -> Scalar:
        """Return a scalar rewritten, its parts first."""
        rebuilt = scalar
        match scalar:
            case StringOf(node=node) | NameOf(node=node) if node is not None:
                twig = self.twig(node)
                if twig is not node:
                    rebuilt = replace(scalar, node=twig)
            case Call(function=function, arguments=arguments):
                inner = []
                for argument in arguments:
                    inner.append(self.scalar(argument))
                if not _same(inner, arguments):
                    rebuilt = Call(function, tuple(inner))
            case BooleanOf(condition=condition):
                new = self.condition(condition)
                if new is not condition:
                    rebuilt = BooleanOf(new)
        return _keep(scalar, self.leave_scalar(rebuilt))

    def leave_twig(self, node: TwigNode) -> TwigNode:
        """Return what stands for a twig node."""
        return node

    def leave_condition(self, condition: Condition) -> Condition:
        """Return what stands for a condition."""
        return condition

    def leave_scalar(self, scalar: Scalar) -> Scalar:
        """Return what stands for a scalar."""
        return scalar


T = TypeVar("T")


def _same(new: Sequence[object], old: Sequence[object]) -> bool:
    """Return whether these are the very same objects."""
    return len(new) == len(old) and all(map(is_, new, old))


def _keep(old: T, new: T) -> T:
    """Return the old object if the new one equals it, so that no change shows as none.

    Parts that did not change are the same objects, which makes the comparison short.
    """
    return old if new is old or new == old else new
