"""What a schema says of the tuples that match a path, for the operators of the message broker.

A path is a list of steps, each a name and whether its axis is ``//``; a tuple has the node of each
step. The paper on message brokering states five claims (section 4.1) on when such tuples have no
duplicates and when they come in order. ``Facts`` holds what the claims need of a schema, as plain
data, and the functions decide them for a path. Without a schema only the query counts: ``NO_FACTS``
has every element on one loop with every other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.schemas.graph import Schema

Step = tuple[bool, str]
"""Whether the axis is ``//``, and the local name of the element."""


@dataclass(frozen=True)
class Facts:
    """Which elements nest, and which children are single, by their local names.

    ``loops`` maps each element that may lie in itself to the number of its loop: two elements
    with one number may lie in each other. ``single`` are pairs of a parent and a child that occurs
    in it at most once, ``required`` those in which it occurs at least once. With ``is_known`` false
    nothing is known, and every pair of elements may lie in each other.
    """

    loops: dict[str, int] = field(default_factory=dict)
    single: frozenset[tuple[str, str]] = frozenset()
    required: frozenset[tuple[str, str]] = frozenset()
    is_known: bool = True

    def is_on_loop(self, name: str) -> bool:
        """Whether an element may lie, at some depth, in one of its own name."""
        return not self.is_known or name in self.loops

    def on_one_loop(self, one: str, other: str) -> bool:
        """Whether each of two elements may lie, at some depth, in the other."""
        if not self.is_known:
            return True
        return one in self.loops and self.loops[one] == self.loops.get(other)

    def is_single(self, parent: str, child: str) -> bool:
        """Whether a child occurs in its parent at most once."""
        return (parent, child) in self.single


NO_FACTS = Facts(is_known=False)


def facts_of(schema: Schema) -> Facts:
    """Return the facts of a schema; an element in which anything may stand leaves nothing known.

    Elements whose names differ in their namespaces only count as one.
    """
    if schema.has_open:
        return NO_FACTS
    edges: dict[str, set[str]] = {}
    single: dict[tuple[str, str], bool] = {}
    required: dict[tuple[str, str], bool] = {}
    parents: dict[str, int] = {}
    for name in schema.reachable:
        children = schema.children(name)
        edges.setdefault(name.local, set()).update(child.local for child in children)
        parents[name.local] = parents.get(name.local, 0) + 1
        for child, occurs in children.items():
            pair = (name.local, child.local)
            # Two children of one local name may stand side by side.
            single[pair] = occurs.is_single and pair not in single
            required[pair] = occurs.is_required and required.get(pair, True)
    return Facts(
        _loops(edges),
        frozenset(pair for pair, holds in single.items() if holds),
        frozenset(pair for pair, holds in required.items() if holds and parents[pair[0]] == 1),
    )


def _loops(edges: dict[str, set[str]]) -> dict[str, int]:
    """Return the elements that reach themselves, with a number for those that reach each other."""
    below = {name: _reach(name, edges) for name in edges}
    loops: dict[str, int] = {}
    for name in sorted(edges):
        if name in below[name] and name not in loops:
            members = [other for other in below[name] if name in below.get(other, ())]
            number = len(set(loops.values()))
            loops.update(dict.fromkeys(members, number))
    return loops


def _reach(name: str, edges: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [*edges[name]]
    while waiting:
        child = waiting.pop()
        if child not in reached:
            reached.add(child)
            waiting += edges.get(child, ())
    return reached


def has_no_duplicates(path: Sequence[Step], facts: Facts) -> bool:
    """Whether no two tuples of a path end in the same node (claims 1 and 2).

    One ``//`` gives none. With several, an element behind one of them, the last left out, must not
    lie in one of its own name.
    """
    deep = [name for is_deep, name in path if is_deep]
    return not any(map(facts.is_on_loop, deep[:-1]))


def has_no_pair_duplicates(path: Sequence[Step], place: int, facts: Facts) -> bool:
    """Whether no two tuples of a path agree in step ``place`` and in the last one (claim 3).

    Both parts of the path, up to that step and behind it, must be free of duplicates.
    """
    return has_no_duplicates(path[: place + 1], facts) and has_no_duplicates(
        path[place + 1 :], facts
    )


def is_in_order(path: Sequence[Step], place: int, facts: Facts) -> bool:
    """Whether tuples, which come in the order of their last nodes, also come in that of a step.

    They do if there is no ``//`` up to the step (claim 4), or if no element behind such a ``//``
    lies on one loop with that of the step (claim 5).
    """
    name = path[place][1]
    deep = [other for is_deep, other in path[: place + 1] if is_deep]
    return not any(facts.on_one_loop(other, name) for other in deep)


def is_free_of_nesting(path: Sequence[Step], facts: Facts) -> bool:
    """Whether no node that a path binds lies in another one.

    Steps along ``/`` keep the distance to the node before, so nodes nest only if those of the last
    ``//`` do.
    """
    deep = [name for is_deep, name in path if is_deep]
    return not deep or not facts.is_on_loop(deep[-1])
