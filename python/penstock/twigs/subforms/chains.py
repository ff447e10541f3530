"""Paths on their way from expressions to twigs: a chain of steps, their predicates conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat

from penstock.twigs import expressions as x
from penstock.twigs.expressions import FALSE, TRUE
from penstock.twigs.logic import conjunction
from penstock.twigs.nodetests import ANY_NODE, Axis, NodeKind, NodeTest
from penstock.twigs.subforms.reach import DOCUMENT, Kinds


@dataclass(frozen=True, slots=True)
class ChainStep:
    """A step with its predicates as one condition; ``from_kinds`` are the kinds it starts from."""

    axis: Axis
    test: NodeTest
    where: x.Condition
    from_kinds: Kinds

    @property
    def is_single(self) -> bool:
        """Whether it leads from one node to at most one."""
        match self.axis:
            case Axis.SELF:
                return True
            case Axis.ATTRIBUTE:
                uris = self.test.uris
                is_exact = uris is not None and len(uris) == 1 and "*" not in uris[0]
                return self.test.local is not None and is_exact
            case Axis.CHILD:  # a document has one element
                return self.from_kinds == DOCUMENT and self.test.kind is NodeKind.ELEMENT
            case _:
                return False


Mark = tuple[str | None, tuple[x.Branch, ...]]
"""The variable of a step, and the branches beside the way on."""


@dataclass(frozen=True, slots=True)
class Chain:
    """A path without alternatives, from the context node or from the document node."""

    absolute: bool
    steps: tuple[ChainStep, ...]
    kinds: Kinds

    @property
    def is_single(self) -> bool:
        """Whether it has at most one node."""
        return all(step.is_single for step in self.steps)

    def then(self, step: ChainStep, kinds: Kinds) -> Chain:
        """Return the chain with one more step."""
        return Chain(self.absolute, (*self.steps, step), kinds)

    def guarded(self, where: x.Condition) -> Chain:
        """Return the chain with a further condition on its last node."""
        if where == TRUE:
            return self
        if not self.steps:
            step = ChainStep(Axis.SELF, ANY_NODE, where, self.kinds)
            return replace(self, steps=(step,))
        last = self.steps[-1]
        step = replace(last, where=conjunction(last.where, where))
        return replace(self, steps=(*self.steps[:-1], step))

    def exists(self, leaf: x.Condition = TRUE) -> x.Condition:
        """Return the condition that some node of the chain satisfies ``leaf``."""
        for step in reversed(self.steps):
            where = conjunction(step.where, leaf)
            if step.axis is Axis.SELF and step.test == ANY_NODE:
                leaf = where
            else:
                leaf = x.Exists(x.TwigNode(step.axis, step.test, where))
        return x.AtRoot(leaf) if self.absolute else leaf

    def twig(self, marks: Sequence[Mark] = ()) -> x.TwigNode | None:
        """Return the steps as one twig, the last of them marked; None without steps."""
        node: x.TwigNode | None = None
        unmarked: Mark = (None, ())
        given = chain(reversed(marks), repeat(unmarked))
        for step, (variable, branches) in zip(reversed(self.steps), given, strict=False):
            # Kinds run out where a path can never match, as below an attribute.
            where = step.where if self.kinds else FALSE
            below = branches if node is None else (*branches, x.Branch(node))
            node = x.TwigNode(step.axis, step.test, where, variable, below)
        return node
