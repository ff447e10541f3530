"""The paper's algorithm (section 3.2): discard, again and again, what fewest servers miss."""

from __future__ import annotations

from penstock.routing.selection.instance import Instance, bits


def greedy(instance: Instance, budget: float) -> int:
    """Return a set of views whose sizes fit into a budget.

    A view is discarded whose loss is least, for each byte that it saves. For the restricted
    problem with sizes of one that is algorithm 1: what a discarded view costs is the number of
    servers that need it and could still hit.
    """
    chosen = instance.everything
    while chosen and instance.size(chosen) > budget:
        chosen ^= 1 << min(bits(chosen), key=lambda view: _loss(instance, chosen, view))
    return chosen


def _loss(instance: Instance, chosen: int, view: int) -> tuple[float, int]:
    loss = -instance.change(chosen, chosen ^ 1 << view)
    return (loss / instance.sizes[view], -view)
