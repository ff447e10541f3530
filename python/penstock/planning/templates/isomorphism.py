"""One template for all isomorphic joins: a canonical numbering of the slots.

A join graph is two small trees with value joins between them. Leaves that join only each other
are interchangeable where their parents are the same, so such pairs are counted instead of
numbered; what remains is refined by colours and, where colours do not tell nodes apart, tried in
every order. Beyond ``ORDERS_MAX`` orders the best one found is taken: isomorphic joins may then
get different templates, which costs sharing and never a result.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice

from penstock.planning.templates.shapes import TOP, Template

ORDERS_MAX = 2000
"""Orders of the nodes that are tried for one join graph."""

STRUCTURES_MAX = 65_536
"""Join graphs whose template is remembered."""

Parents = tuple[int, ...]
Joins = tuple[tuple[int, int], ...]
Numbering = tuple[Template, tuple[int, ...], tuple[int, ...]]

# A node of either side: (side, place).
_Node = tuple[int, int]
_NONE: _Node = (0, TOP)


@lru_cache(STRUCTURES_MAX)
def number_slots(left: Parents, right: Parents, joins: Joins) -> Numbering:
    """Return the template of a join graph, and for each side the node at each of its slots.

    ``left`` and ``right`` give each node's parent, parents first, TOP for the first; ``joins`` are
    pairs (left node, right node).
    """
    graph = _Graph((left, right), joins)
    best: tuple[tuple[object, ...], Numbering] | None = None
    for ranks in islice(graph.orders(), ORDERS_MAX):
        numbering = graph.number(ranks)
        template = numbering[0]
        key = (template.left, template.right, template.joins)
        if best is None or key < best[0]:
            best = key, numbering
    assert best is not None, "there is always an order"
    return best[1]


def mirror(template: Template) -> Template:
    """Return the template of the same joins with the sides exchanged."""
    joins = tuple(sorted((right, left) for left, right in template.joins))
    return number_slots(template.right, template.left, joins)[0]


class _Graph:
    def __init__(self, parents: tuple[Parents, Parents], joins: Joins) -> None:
        self.parents = parents
        self.joins = tuple(dict.fromkeys(joins))
        partners: dict[_Node, list[_Node]] = {}
        for one, other in self.joins:
            partners.setdefault((0, one), []).append((1, other))
            partners.setdefault((1, other), []).append((0, one))
        inner = {(side, parent) for side in (0, 1) for parent in parents[side]}
        single = {n for n, others in partners.items() if len(others) == 1 and n not in inner}
        # Leaves that join only each other, by the side of either.
        self.twins = {n: partners[n][0] for n in single if partners[n][0] in single}
        nodes = [(side, place) for side in (0, 1) for place in range(len(parents[side]))]
        self.nodes = [node for node in nodes if node not in self.twins]
        self.near: dict[_Node, list[tuple[str, _Node]]] = {node: [] for node in self.nodes}
        self._connect(partners)

    def _connect(self, partners: dict[_Node, list[_Node]]) -> None:
        for node in self.nodes:
            parent = self.parent(node)
            if parent != _NONE:
                self.near[node].append(("above", parent))
                self.near[parent].append(("below", node))
            self.near[node] += [("joined", other) for other in partners.get(node, ())]
        for twin, other in self.twins.items():
            parent, opposite = self.parent(twin), self.parent(other)
            if _NONE not in (parent, opposite):
                self.near[parent].append(("twins", opposite))

    def parent(self, node: _Node) -> _Node:
        """Return the parent of a node, ``_NONE`` at the top."""
        side, place = node
        above = self.parents[side][place]
        return _NONE if above == TOP else (side, above)

    def orders(self) -> Iterator[dict[_Node, int]]:
        """Yield ranks of the nodes without twins, enough of them to contain the best."""
        yield from self._search({node: node[0] for node in self.nodes})

    def _search(self, colours: dict[_Node, int]) -> Iterator[dict[_Node, int]]:
        colours = self._refine(colours)
        cells: dict[int, list[_Node]] = {}
        for node in self.nodes:
            cells.setdefault(colours[node], []).append(node)
        undecided = min((c for c, cell in cells.items() if len(cell) > 1), default=None)
        if undecided is None:
            yield colours
            return
        for chosen in cells[undecided]:
            doubled = {node: 2 * colour + 1 for node, colour in colours.items()}
            doubled[chosen] -= 1
            yield from self._search(doubled)

    def _refine(self, colours: dict[_Node, int]) -> dict[_Node, int]:
        """Return colours that also tell apart what the neighbours' colours tell apart."""
        count = len(set(colours.values()))
        while True:
            seen = {
                node: (
                    colours[node],
                    sorted((how, colours[other]) for how, other in self.near[node]),
                )
                for node in self.nodes
            }
            colours = _ranks({node: (c, tuple(near)) for node, (c, near) in seen.items()})
            refined = len(set(colours.values()))
            if refined == count:
                return colours
            count = refined

    def number(self, ranks: dict[_Node, int]) -> Numbering:
        """Return the template and the nodes at its slots when siblings stand in this order."""
        ranks = {**ranks, _NONE: TOP}
        orders = [self._preorder(side, ranks) for side in (0, 1)]
        slots = [{place: slot for slot, place in enumerate(order)} for order in orders]
        parents = [
            tuple(slots[side].get(self.parents[side][place], TOP) for place in orders[side])
            for side in (0, 1)
        ]
        joins = tuple(sorted((slots[0][one], slots[1][other]) for one, other in self.joins))
        template = Template(parents[0], parents[1], joins)
        return template, tuple(orders[0]), tuple(orders[1])

    def _preorder(self, side: int, ranks: dict[_Node, int]) -> list[int]:
        children: dict[int, list[int]] = {}
        for place, parent in enumerate(self.parents[side]):
            children.setdefault(parent, []).append(place)

        def rank(place: int) -> tuple[int, int, int]:
            twin = self.twins.get((side, place))
            if twin is None:
                return 0, ranks[side, place], 0
            # Twins of the same parents keep one order on both sides: that of their left nodes.
            return 1, ranks[self.parent(twin)], place if side == 0 else twin[1]

        order: list[int] = []
        waiting = sorted(children[TOP], key=rank, reverse=True)
        while waiting:
            place = waiting.pop()
            order.append(place)
            waiting += sorted(children.get(place, ()), key=rank, reverse=True)
        return order


def _ranks(keys: dict[_Node, tuple[int, tuple[tuple[str, int], ...]]]) -> dict[_Node, int]:
    """Return the place of each node's key among the distinct keys."""
    places = {key: place for place, key in enumerate(sorted(set(keys.values())))}
    return {node: places[key] for node, key in keys.items()}
