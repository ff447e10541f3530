"""Sets of nodes on a prefix of a document: who is in, who may be, who may still come.

Nodes to come are not there to be listed. What is known of them is under which open element they
may begin, and that is enough to say which nodes of the prefix they can reach on a reverse axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from penstock.twigs import Axis
from penstock_testing.kleene.lifetimes import Lifetimes
from penstock_testing.kleene.truth import Truth
from penstock_testing.reference.paths import BESIDE_CONTENT, nodes_on
from penstock_testing.tree import Node, Tree

_BELOW = (Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)
_BESIDE = (Axis.FOLLOWING_SIBLING, Axis.PRECEDING_SIBLING, Axis.SELF, Axis.ANCESTOR_OR_SELF)
_ANYWHERE = (Axis.FOLLOWING, Axis.PRECEDING)
_ABOVE = (Axis.PARENT, Axis.ANCESTOR)


@dataclass(frozen=True, slots=True)
class Place:
    """Nodes that may come as children of an open node, or anywhere below it if ``is_deep``."""

    node: Node
    is_deep: bool


@dataclass(slots=True)
class Members:
    """What is known of a set.

    ``truths`` has the nodes that are members (True) or may be (None). Those of them that are
    ``joinable`` may get in through nodes that are still to come, of which ``places`` says where.
    ``is_complete`` promises that no further node can come. In a set that is ``is_late`` nodes may
    join that came before others, by the way it is reached.
    """

    truths: dict[Node, Truth] = field(default_factory=dict)
    joinable: set[Node] = field(default_factory=set)
    places: set[Place] = field(default_factory=set)
    is_complete: bool = True
    is_late: bool = False

    def add(self, node: Node, truth: Truth, is_joinable: bool = False) -> None:
        """Note a way to reach a node; ways are alternatives."""
        self.truths[node] = self.truths.get(node) or truth
        if is_joinable:
            self.joinable.add(node)

    def merge(self, other: Members) -> None:
        """Add the members of another set."""
        for node, truth in other.truths.items():
            self.add(node, truth)
        self.joinable |= other.joinable
        self.places |= other.places
        self.is_complete = self.is_complete and other.is_complete
        self.is_late = self.is_late or other.is_late

    def in_order(self) -> list[tuple[Node, Truth]]:
        """Return the nodes and their truths in document order."""
        return sorted(self.truths.items(), key=lambda item: item[0].order)

    @property
    def sure(self) -> list[Node]:
        """The nodes that are members."""
        return [node for node, truth in self.truths.items() if truth]

    @property
    def is_decided(self) -> bool:
        """Whether it is known of every node, present or to come, if it is a member."""
        return self.is_complete and len(self.sure) == len(self.truths)


class Horizon:
    """What axes reach after an event: among the nodes that are there, and beyond."""

    def __init__(self, tree: Tree, lifetimes: Lifetimes) -> None:
        self._tree = tree
        self._lifetimes = lifetimes

    def present(self, axis: Axis, node: Node) -> Iterator[Node]:
        """Yield the nodes on an axis that are there, in the order of the axis."""
        return filter(self._lifetimes.is_born, nodes_on(axis, node))

    def is_complete(self, axis: Axis, node: Node) -> bool:
        """Return whether no further node can come on an axis from a node."""
        if axis in _ANYWHERE:
            return axis is Axis.PRECEDING or self._lifetimes.is_closed(self._tree.root)
        return self.place_from(axis, node) is None

    def place_from(self, axis: Axis, node: Node) -> Place | None:
        """Return where nodes may come on an axis from a node that is there."""
        place: Place | None = None
        if axis is Axis.CHILD or axis in _BELOW:
            place = Place(node, axis in _BELOW)
        elif axis is Axis.FOLLOWING_SIBLING and node.kind not in BESIDE_CONTENT and node.parent:
            place = Place(node.parent, False)
        elif axis is Axis.FOLLOWING:
            place = Place(self._tree.root, True)
        return place if place and not self._lifetimes.is_closed(place.node) else None

    def place_beyond(self, axis: Axis, place: Place) -> Place | None:
        """Return where nodes may come on an axis from a node that is itself to come."""
        if axis in _ANYWHERE:
            return Place(self._tree.root, True)
        if axis in _BESIDE:
            return place
        return None if axis in _ABOVE and not place.is_deep else Place(place.node, True)

    def reached_from(self, axis: Axis, place: Place) -> Iterable[Node]:
        """Return the nodes that are there and that a node to come may reach on an axis."""
        above = list(nodes_on(Axis.ANCESTOR, place.node))
        parents = [node for node in self._open_below(place.node) if place.is_deep]
        match axis:
            case Axis.PARENT:
                return [place.node, *parents]
            case Axis.ANCESTOR | Axis.ANCESTOR_OR_SELF:
                return [place.node, *parents, *above]
            case Axis.PRECEDING_SIBLING:
                near = [place.node, *parents]
                return [child for one in near for child in self.present(Axis.CHILD, one)]
            case Axis.PRECEDING:
                below = self.present(Axis.DESCENDANT, self._tree.root)
                return [node for node in below if node is not place.node and node not in above]
            case _:
                return []

    def _open_below(self, node: Node) -> Iterator[Node]:
        for below in self.present(Axis.DESCENDANT, node):
            if not self._lifetimes.is_closed(below):
                yield below
