"""What is known of twigs: the truth of conditions, and the nodes at the end of spines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from penstock.twigs import (
    And,
    AtRoot,
    Axis,
    Branch,
    Call,
    Compare,
    Condition,
    Constant,
    Exists,
    NameOf,
    Not,
    Or,
    Query,
    Slot,
    StringOf,
    TwigNode,
)
from penstock.twigs.expressions import Atom, Nodes
from penstock_testing.kleene.lifetimes import Lifetimes
from penstock_testing.kleene.truth import Truth, all_of, any_of, inverse
from penstock_testing.reference.expressions import name_part, speaks, spine_of, spine_to
from penstock_testing.reference.functions import call
from penstock_testing.reference.paths import nodes_on, passes
from penstock_testing.reference.values import Atomic, compare, to_boolean
from penstock_testing.tree import Node, Tree

_IMMEDIATE = (Axis.SELF, Axis.ATTRIBUTE)
_GROWING = (Axis.CHILD, Axis.DESCENDANT, Axis.DESCENDANT_OR_SELF)


class TwigKnowledge:
    """Truth and values after the event at which the lifetimes stand."""

    def __init__(self, query: Query, tree: Tree, lifetimes: Lifetimes) -> None:
        self._lifetimes = lifetimes
        self._constants = query.constants
        self._root = tree.root
        # The query is kept so that the identities of its parts stay theirs.
        self._query = query
        self._settled: dict[tuple[int, Node], bool] = {}

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

    def value(self, atom: Atom, node: Node) -> Atomic | None:
        """Return the value of an atom of a twig at the node."""
        match atom:
            case Slot(index):
                return self._constants[index]
            case StringOf(nodes):
                return self._of_first(nodes, node, None)
            case NameOf(part, nodes):
                return self._of_first(nodes, node, part)
            case Call(function, arguments):
                values = [self.value(argument, node) for argument in arguments]
                known = [value for value in values if value is not None]
                if len(known) < len(values):
                    return None
                return speaks(str(known[0]), node) if function == "lang" else call(function, known)
            case _:
                return self.truth(atom, node)

    def _truth(self, condition: Condition, node: Node) -> Truth:
        match condition:
            case Constant(value):
                return value
            case And(parts):
                return all_of(self.truth(part, node) for part in parts)
            case Or(parts):
                return any_of(self.truth(part, node) for part in parts)
            case Not(part):
                return inverse(self.truth(part, node))
            case Exists(TwigNode() as twig):
                return self._exists(twig, node)
            case AtRoot(part):
                return self.truth(part, self._root)
            case Compare(operator, left, right):
                one, other = self.value(left, node), self.value(right, node)
                return None if one is None or other is None else compare(operator, one, other)
            case Call():
                known = self.value(condition, node)
                return None if known is None else to_boolean(known)
            case _:
                raise TypeError(f"{type(condition).__name__} is no condition of a twig")

    def _exists(self, twig: TwigNode, context: Node) -> Truth:
        found = any_of(self._at(twig, node, None) for node in self._present(twig, context))
        return None if found is False and self._may_grow(twig.axis, context) else found

    def _at(self, twig: TwigNode, node: Node, onward: Branch | None) -> Truth:
        """Whether a twig node is matched at a node that passes its test."""
        required = (b.node for b in twig.branches if not b.optional and b is not onward)
        return all_of([self.truth(twig.where, node), *(self._exists(b, node) for b in required)])

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
                    truth = all_of((above, self._at(twig, far, onward)))
                    if truth is not False:
                        reached[far] = reached.get(far) or truth
            nodes = reached
        return nodes, may_grow

    def _of_first(self, path: Nodes, context: Node, part: str | None) -> str | None:
        """The string value, or a part of the name, of the first node that a path reaches."""
        nodes: dict[Node, Truth] = {context: True}
        may_grow = False
        if isinstance(path, TwigNode):
            nodes, may_grow = self._reach(spine_of(path), context)
        if not nodes:
            return None if may_grow else ""
        first = min(nodes, key=lambda node: node.order)
        if nodes[first] is None:
            return None
        if part is not None:
            return name_part(part, first)
        return first.string_value() if self._lifetimes.is_closed(first) else None

    def _present(self, twig: TwigNode, context: Node) -> Iterator[Node]:
        if twig.axis not in _IMMEDIATE + _GROWING:
            raise NotImplementedError(f"the {twig.axis.value} axis")
        for node in nodes_on(twig.axis, context):
            if not self._lifetimes.is_born(node):
                return  # nodes of one axis are born in document order
            if passes(twig.test, node):
                yield node

    def _may_grow(self, axis: Axis, context: Node) -> bool:
        return axis in _GROWING and not self._lifetimes.is_closed(context)


def spines_of(query: Query, variable: str) -> list[tuple[TwigNode, ...]]:
    """Return the spines of all alternatives that end where the variable is bound."""
    (block,) = query.blocks
    spines = [spine_to(variable, twig) for twig in block.alternatives]
    return [spine for spine in spines if spine is not None]
