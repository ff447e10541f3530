"""What can be known after each event: three-valued truth on every prefix of a document.

An element exists from its start tag on, with its attributes; any other node from its own event
on. The string value of an element or of the document is unknown until it ends. Truth is ``True``,
``False`` or ``None``, and a value that is unknown is ``None``; both only ever get more definite.
From this follow the earliest event at which a result can be decided, and which candidates must
still be held after an event because they may become results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from penstock.testing.reference.conditions import name_part, speaks, spine_of, spine_to
from penstock.testing.reference.functions import call
from penstock.testing.reference.paths import nodes_on, passes
from penstock.testing.reference.values import Atomic, compare, to_boolean
from penstock.testing.tree import EventKind, Node, Tree
from penstock.twigs import (
    Aggregate,
    And,
    AtRoot,
    Axis,
    BooleanOf,
    Branch,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    Fragments,
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

Truth = bool | None

_IMMEDIATE = (Axis.SELF, Axis.ATTRIBUTE)
_GROWING = (Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)


@dataclass(frozen=True, slots=True)
class Step:
    """What an event brings: results decided by it, and candidates that must be held after it."""

    decided: frozenset[Node]
    needed: frozenset[Node]


def steps(query: Query, tree: Tree) -> list[Step]:
    """Return for every event of the tree what it decides and what is needed after it."""
    assert isinstance(query.output, Fragments)
    knowledge = Knowledge(query, tree)
    spines = _spines(query, query.output.variable)
    known: set[Node] = set()
    found = []
    for event in range(len(tree.events)):
        knowledge.event = event
        truths = knowledge.ends(spines)
        decided = frozenset(n for n, truth in truths.items() if truth and n not in known)
        known |= decided
        needed = frozenset(n for n, truth in truths.items() if truth is None)
        found.append(Step(decided, needed))
    return found


def earliest(query: Query, tree: Tree) -> dict[Node, int]:
    """Return for every result the index of the first event that decides it."""
    decided = (step.decided for step in steps(query, tree))
    return {node: event for event, nodes in enumerate(decided) for node in nodes}


def needed(query: Query, tree: Tree) -> list[frozenset[Node]]:
    """Return for every event the nodes that are no results yet and may still become some."""
    return [step.needed for step in steps(query, tree)]


def known_at(query: Query, tree: Tree) -> int:
    """Return the index of the first event after which the value of a query is known.

    An aggregate is known at the end of the document: until then a node may come.
    """
    if isinstance(query.output, Aggregate):
        return len(tree.events) - 1
    assert isinstance(query.output, Value)
    knowledge = Knowledge(query, tree)
    for event in range(len(tree.events)):
        knowledge.event = event
        if knowledge.value(query.output.scalar, tree.root) is not None:
            return event
    raise AssertionError("everything is known at the end of the document")


class Knowledge:
    """Truth and values after the event with index ``event``, which may only move forward."""

    def __init__(self, query: Query, tree: Tree) -> None:
        self.event = 0
        self._constants = query.constants
        self._root = tree.root
        self._born: dict[Node, int] = {tree.root: -1}
        self._closed: dict[Node, int] = {}
        # The query is kept so that the identities of its parts stay theirs.
        self._query = query
        self._settled: dict[tuple[int, Node], bool] = {}
        for index, event in enumerate(tree.events):
            if event.kind is EventKind.START:
                self._born[event.node] = index
                for attribute in event.node.attributes:
                    self._born[attribute] = self._closed[attribute] = index
            elif event.kind in (EventKind.END, EventKind.DOCUMENT_END):
                self._closed[event.node] = index
            else:
                self._born[event.node] = self._closed[event.node] = index

    def ends(self, spines: Sequence[Sequence[TwigNode]]) -> dict[Node, Truth]:
        """Return the truth of every node that some spine reaches or may reach."""
        found: dict[Node, Truth] = {}
        for spine in spines:
            for node, truth in self._reach(spine, self._root)[0].items():
                found[node] = found.get(node) or truth
        return found

    def truth(self, condition: Condition, node: Node) -> Truth:
        """Return whether the condition holds at the node."""
        key = (id(condition), node)
        if key in self._settled:
            return self._settled[key]
        truth = self._truth(condition, node)
        if truth is not None:
            self._settled[key] = truth
        return truth

    def value(self, scalar: Scalar, node: Node) -> Atomic | None:
        """Return the value of the scalar at the node."""
        match scalar:
            case Slot(index):
                return self._constants[index]
            case StringOf(path, absolute):
                return self._of_first(path, self._root if absolute else node, None)
            case NameOf(part, path, absolute):
                return self._of_first(path, self._root if absolute else node, part)
            case Call(function, arguments):
                values = [self.value(argument, node) for argument in arguments]
                known = [value for value in values if value is not None]
                if len(known) < len(values):
                    return None
                return speaks(str(known[0]), node) if function == "lang" else call(function, known)
            case BooleanOf(condition):
                return self.truth(condition, node)

    def _truth(self, condition: Condition, node: Node) -> Truth:
        match condition:
            case Constant(value):
                return value
            case And(parts):
                return _all(self.truth(part, node) for part in parts)
            case Or(parts):
                return _any(self.truth(part, node) for part in parts)
            case Not(part):
                truth = self.truth(part, node)
                return None if truth is None else not truth
            case Exists(twig):
                return self._exists(twig, node)
            case AtRoot(part):
                return self.truth(part, self._root)
            case Compare(operator, left, right):
                one, other = self.value(left, node), self.value(right, node)
                return None if one is None or other is None else compare(operator, one, other)
            case Holds(scalar):
                known = self.value(scalar, node)
                return None if known is None else to_boolean(known)

    def _exists(self, twig: TwigNode, context: Node) -> Truth:
        found = _any(self._at(twig, node, None) for node in self._present(twig, context))
        return None if found is False and self._may_grow(twig.axis, context) else found

    def _at(self, twig: TwigNode, node: Node, onward: Branch | None) -> Truth:
        """Whether a twig node is matched at a node that passes its test."""
        required = (b.node for b in twig.branches if not b.optional and b is not onward)
        return _all([self.truth(twig.where, node), *(self._exists(b, node) for b in required)])

    def _reach(self, spine: Sequence[TwigNode], context: Node) -> tuple[dict[Node, Truth], bool]:
        """The nodes at the end of a spine that are not ruled out, and whether more may come.

        The truth of a node is that of its best chain: chains are alternatives.
        """
        nodes: dict[Node, Truth] = {context: True}
        may_grow = False
        for place, twig in enumerate(spine):
            after = spine[place + 1] if place + 1 < len(spine) else None
            onward = next((branch for branch in twig.branches if branch.node is after), None)
            reached: dict[Node, Truth] = {}
            for near, above in nodes.items():
                may_grow |= self._may_grow(twig.axis, near)
                for far in self._present(twig, near):
                    truth = _all((above, self._at(twig, far, onward)))
                    if truth is not False:
                        reached[far] = reached.get(far) or truth
            nodes = reached
        return nodes, may_grow

    def _of_first(self, path: TwigNode | None, context: Node, part: str | None) -> str | None:
        """The string value, or a part of the name, of the first node that a path reaches."""
        nodes: dict[Node, Truth] = {context: True}
        may_grow = False
        if path is not None:
            nodes, may_grow = self._reach(spine_of(path), context)
        if not nodes:
            return None if may_grow else ""
        first = min(nodes, key=lambda node: node.order)
        if nodes[first] is None:
            return None
        if part is not None:
            return name_part(part, first)
        return first.string_value() if self._is_closed(first) else None

    def _present(self, twig: TwigNode, context: Node) -> Iterator[Node]:
        if twig.axis not in _IMMEDIATE + _GROWING:
            raise NotImplementedError(f"the {twig.axis.value} axis")
        for node in nodes_on(twig.axis, context):
            if self._born[node] > self.event:
                return  # nodes of one axis are born in document order
            if passes(twig.test, node):
                yield node

    def _may_grow(self, axis: Axis, context: Node) -> bool:
        return axis in _GROWING and not self._is_closed(context)

    def _is_closed(self, node: Node) -> bool:
        return self._closed[node] <= self.event


def _spines(query: Query, variable: str) -> list[tuple[TwigNode, ...]]:
    (block,) = query.blocks
    spines = [spine_to(variable, twig) for twig in block.alternatives]
    return [spine for spine in spines if spine is not None]


def _all(truths: Sequence[Truth] | Iterator[Truth]) -> Truth:
    unknown = False
    for truth in truths:
        if truth is False:
            return False
        unknown = unknown or truth is None
    return None if unknown else True


def _any(truths: Iterator[Truth]) -> Truth:
    unknown = False
    for truth in truths:
        if truth is True:
            return True
        unknown = unknown or truth is None
    return None if unknown else False
