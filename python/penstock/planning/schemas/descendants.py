"""Superfluous ``//`` become ``/``: section 5.1 of the paper on message brokering.

Where one way only leads from the elements before ``//`` down to the one behind it, the steps of
that way are written out. Queries that differ in nothing else are then equal, and share one plan.
Where several ways lead there, ``//`` stays: it costs one lookup, and each way would cost one of
its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.planning.schemas.knowledge import Contexts, Knowledge, test_of
from penstock.planning.schemas.walking import Walk
from penstock.planning.sequences.context import is_truth
from penstock.schemas import Name
from penstock.twigs import Query
from penstock.twigs import expressions as x
from penstock.twigs.nodetests import Axis


def write_out_descendants(
    query: Query, knowledge: Knowledge, *, keeps_moments: bool = False
) -> tuple[Query, frozenset[Name]]:
    """Return the query with superfluous ``//`` written out, and the elements that these lead to.

    With ``keeps_moments`` nothing is decided earlier by that: a position behind ``//`` in XQuery
    needs the whole document, and one behind ``/`` only the parent.
    """
    writing = _WritingOut(knowledge, keeps_moments)
    changed = writing.query(query)
    return changed, frozenset(writing.targets) if changed is not query else frozenset()


class _WritingOut(Walk):
    def __init__(self, knowledge: Knowledge, keeps_moments: bool) -> None:
        super().__init__(knowledge)
        self.targets: set[Name] = set()
        self._keeps_moments = keeps_moments

    def change_twig(self, node: x.TwigNode, contexts: Contexts) -> x.TwigNode:
        if node.axis is not Axis.DESCENDANT:
            return node
        chain = self._chain(contexts, node.test)
        if chain is None:
            return node
        node = replace(node, axis=Axis.CHILD)
        for name in reversed(chain[:-1]):
            node = x.TwigNode(Axis.CHILD, test_of(name), branches=(x.Branch(node),))
        return node

    def change_step(self, step: x.Step, contexts: Contexts, above: Contexts) -> Any:
        if self._keeps_moments and not all(map(is_truth, step.predicates)):
            return step
        base = step.base
        chain = None
        if step.axis is Axis.DESCENDANT:
            chain = self._chain(contexts, step.test)
            # A position counts among all descendants, which are the children of one node then.
            if chain is not None and len(chain) > 1 and step.predicates:
                return step
        elif step.axis is Axis.CHILD and above is not None:
            assert isinstance(base, x.Step)
            base = base.base
            chain = self._chain(above, step.test)
        if chain is None:
            return step
        for name in chain[:-1]:
            base = x.Step(base, Axis.CHILD, test_of(name))
        return x.Step(base, Axis.CHILD, step.test, step.predicates)

    def _chain(self, contexts: Contexts, test: Any) -> tuple[Name, ...] | None:
        chain = self.knowledge.chain(contexts, test)
        if chain is not None:
            self.targets.add(chain[-1])
        return chain
