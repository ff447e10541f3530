"""The reduction of a twig to the nodes that matter (MMQJP, section 4.2).

Kept are the wanted nodes and the lowest common ancestors of any of them. Leaves that nobody wants
go, and what was only their ancestor; so does everything above the top of the rest, and every
unwanted node with one child. An edge of the result stands for the path between its ends.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from penstock.planning.templates.shapes import TOP


def reduce_tree(parents: Sequence[int], wanted: Collection[int]) -> tuple[list[int], list[int]]:
    """Return the nodes that are kept, parents first, and the place of each one's parent.

    ``parents`` gives the parent of each node of a tree, whose nodes are numbered parents first.
    """
    # The only kept node below, so far; a second one makes the node a common ancestor.
    below: list[int] = [TOP] * len(parents)
    kept = set(wanted)
    for node in range(len(parents) - 1, -1, -1):
        highest = node if node in kept else below[node]
        parent = parents[node]
        if highest != TOP and parent != TOP:
            if below[parent] != TOP:
                kept.add(parent)
            below[parent] = highest
    nodes = sorted(kept)
    place = {node: index for index, node in enumerate(nodes)}
    above = []
    for node in nodes:
        parent = parents[node]
        while parent != TOP and parent not in place:
            parent = parents[parent]
        above.append(place.get(parent, TOP))
    return nodes, above
