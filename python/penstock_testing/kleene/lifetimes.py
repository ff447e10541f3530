"""When nodes come into being and when they are complete."""

from __future__ import annotations

from penstock_testing.tree import EventKind, Node, Tree


class Lifetimes:
    """What there is after the event with index ``event``, which may only move forward.

    An element exists from its start tag on, with its attributes and namespaces; any other node
    from its own event on. An element and the document are closed when they end.
    """

    def __init__(self, tree: Tree) -> None:
        self.event = 0
        self._born: dict[Node, int] = {tree.root: -1}
        self._closed: dict[Node, int] = {}
        for index, event in enumerate(tree.events):
            if event.kind is EventKind.START:
                self._born[event.node] = index
                for node in (*event.node.namespaces, *event.node.attributes):
                    self._born[node] = self._closed[node] = index
            elif event.kind in (EventKind.END, EventKind.DOCUMENT_END):
                self._closed[event.node] = index
            else:
                self._born[event.node] = self._closed[event.node] = index

    def is_born(self, node: Node) -> bool:
        """Return whether a node is there."""
        return self._born[node] <= self.event

    def is_closed(self, node: Node) -> bool:
        """Return whether nothing can be added to a node: its string value is known."""
        return self._closed[node] <= self.event
