"""One walk over a query for all rewrites: from the leaves up, rebuilding only what changes."""

from __future__ import annotations

from dataclasses import replace

from penstock.twigs import (
    And,
    AtRoot,
    Block,
    BooleanOf,
    Branch,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    Holds,
    NameOf,
    Not,
    Or,
    Query,
    Scalar,
    Slot,
    StringOf,
    TwigNode,
    Value,
)


class Traversal:
    """Rebuilds a query bottom up; a rewrite overrides the ``leave_`` methods that it needs.

    Each gets a part whose own parts are already rewritten and returns what stands in its place.
    Output templates other than ``Value`` contain nothing that a rewrite looks at.
    """

    def query(self, query: Query) -> Query:
        """Return the query rewritten."""
        blocks = tuple(self.block(block) for block in query.blocks)
        output = query.output
        if isinstance(output, Value):
            output = replace(output, scalar=self.scalar(output.scalar))
        return replace(query, blocks=blocks, output=output)

    def block(self, block: Block) -> Block:
        """Return the block with each alternative rewritten."""
        return replace(block, alternatives=tuple(map(self.twig, block.alternatives)))

    def twig(self, node: TwigNode) -> TwigNode:
        """Return a twig rewritten, its branches and its condition first."""
        branches = []
        for branch in node.branches:
            branches.append(Branch(self.twig(branch.node), branch.optional))
        where = self.condition(node.where)
        rebuilt = TwigNode(node.axis, node.test, where, node.variable, tuple(branches))
        return self.leave_twig(rebuilt)

    def condition(self, condition: Condition) -> Condition:
        """Return a condition rewritten, its parts first."""
        match condition:
            case And(parts=parts) | Or(parts=parts):
                rebuilt = []
                for part in parts:
                    rebuilt.append(self.condition(part))
                return self.leave_condition(type(condition)(tuple(rebuilt)))
            case Not(part=part) | AtRoot(part=part):
                return self.leave_condition(type(condition)(self.condition(part)))
            case Exists(node=node):
                return self.leave_condition(Exists(self.twig(node)))
            case Compare(operator=operator, left=left, right=right):
                first = self.scalar(left)
                return self.leave_condition(Compare(operator, first, self.scalar(right)))
            case Holds(scalar=scalar):
                return self.leave_condition(Holds(self.scalar(scalar)))
            case Constant():
                return self.leave_condition(condition)

    def scalar(self, scalar: Scalar) -> Scalar:
        """Return a scalar rewritten, its parts first."""
        match scalar:
            case StringOf(node=node) | NameOf(node=node) if node is not None:
                return self.leave_scalar(replace(scalar, node=self.twig(node)))
            case Call(function=function, arguments=arguments):
                rebuilt = []
                for argument in arguments:
                    rebuilt.append(self.scalar(argument))
                return self.leave_scalar(Call(function, tuple(rebuilt)))
            case BooleanOf(condition=condition):
                return self.leave_scalar(BooleanOf(self.condition(condition)))
            case Slot() | StringOf() | NameOf():
                return self.leave_scalar(scalar)

    def leave_twig(self, node: TwigNode) -> TwigNode:
        """Return what stands for a twig node."""
        return node

    def leave_condition(self, condition: Condition) -> Condition:
        """Return what stands for a condition."""
        return condition

    def leave_scalar(self, scalar: Scalar) -> Scalar:
        """Return what stands for a scalar."""
        return scalar
