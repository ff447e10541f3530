"""The end of possible matches: behind which end tags a document has no more of them.

If every match lies in an element that occurs once at most, as does each element around it, nothing
is found after its end tag. What was found there and waits for other parts of the document is
decided later; whoever reads sees that something waits.

A query has several such elements where its matches may lie in several. An end is written as the
names from the root down to the element.
"""

from __future__ import annotations

from collections.abc import Iterable

from penstock.planning.compile import compile_end
from penstock.planning.modes import Mode
from penstock.planning.normalise import normalise
from penstock.planning.schemas.knowledge import Knowledge, fits, test_of
from penstock.schemas import Name
from penstock.twigs import Fragments, Query
from penstock.twigs import expressions as x
from penstock.twigs.logic import conjunction, disjunction, negation
from penstock.twigs.nodetests import Axis, NodeKind, NodeTest
from penstock.twigs.parts import all_parts

End = tuple[Name, ...]
_ENDS_MAX = 16
# No element has a name in one of no namespaces, so that none stands in an element is true at its
# end, and no earlier.
_NEVER = x.Exists(x.TwigNode(Axis.CHILD, NodeTest(NodeKind.ELEMENT, None, ())))


def ends_of(query: Query, mode: Mode, knowledge: Knowledge) -> frozenset[End] | None:
    """Return the ends behind which a query has no matches; None if a row may come with any event.

    Roots without an end here have no matches at all.
    """
    if not isinstance(query.output, Fragments) or mode == "running":
        return None
    normal = normalise(query)
    if not isinstance(normal.output, Fragments) or len(normal.blocks) != 1 or normal.joins:
        return None
    is_filter = mode == "filter"
    ends: set[End] = set()
    for twig in normal.blocks[0].alternatives:
        spine = _spine(twig)
        if spine is None or (is_filter and _looks_elsewhere(twig)):
            return None
        ends |= _Cut(knowledge, spine, is_filter).ends()
    return frozenset(ends)


def end_program(knowledge: Knowledge, ends: Iterable[End]) -> bytes | None:
    """Return the program that holds once a document is behind all these ends; None: never."""
    listed = set(ends)
    conditions = []
    for root in sorted(knowledge.schema.roots, key=str):
        own = {end[1:] for end in listed if end[0] == root}
        if () not in own:
            conditions.append(_inside(root, _all_ended(own)))
    return compile_end(disjunction(*conditions)) if conditions else None


def outermost(ends: Iterable[End]) -> list[End]:
    """Return the ends that do not lie in others, sorted."""
    listed = set(ends)
    return sorted(
        (end for end in listed if not any(end[:size] in listed for size in range(1, len(end)))),
        key=lambda end: list(map(str, end)),
    )


def written(ends: Iterable[End]) -> str:
    """Return the end tags behind which there are no matches, each with the way to its element."""
    return " and ".join(f"</{end[-1]}> ({'/'.join(map(str, end))})" for end in outermost(ends))


def is_whole(ends: frozenset[End] | None) -> bool:
    """Whether matches with these ends may lie anywhere in a document."""
    return ends is None or any(len(end) == 1 for end in ends)


def end_lines(query: Query, mode: Mode, knowledge: Knowledge) -> list[str]:
    """Return where the matches of a query end, in words; nothing if it has none at all."""
    ends = ends_of(query, mode, knowledge)
    if is_whole(ends):
        return ["matches may lie anywhere: documents in pieces are read to their end"]
    return [f"no match after {written(ends)}"] if ends else []


def _all_ended(ends: set[End]) -> x.Condition:
    """Return the condition at an element that these elements below it have ended."""
    below: dict[Name, set[End]] = {}
    for end in ends:
        below.setdefault(end[0], set()).add(end[1:])
    return conjunction(
        *(
            # What stands around the ends is enough as well: some of them may be missing.
            _inside(name, disjunction(negation(_NEVER), *([] if () in own else [_all_ended(own)])))
            for name, own in sorted(below.items(), key=lambda item: str(item[0]))
        )
    )


def _inside(name: Name, where: x.Condition) -> x.Condition:
    return x.Exists(x.TwigNode(Axis.CHILD, test_of(name), where))


def _spine(twig: x.TwigNode) -> list[x.TwigNode] | None:
    """Return the steps from the document down to the matches."""
    steps: list[x.TwigNode] = []
    node = twig
    while node.branches:
        if len(node.branches) > 1 or node.branches[0].optional:
            return None
        node = node.branches[0].node
        steps.append(node)
    return steps or None


def _looks_elsewhere(twig: x.TwigNode) -> bool:
    """Whether a condition may depend on nodes that do not lie in the node that it is said of."""
    return twig.where != x.TRUE or any(
        isinstance(part, x.AtRoot | x.Identified | x.Root) for part in all_parts(twig)
    )


class _Cut:
    """Follows the steps of a path over the element graph, down to where the matches lie.

    A state is the number of a step that is still to be taken from an element. ``holds_inside``:
    the conditions of a step have to be decided too before its element counts as ended.
    """

    def __init__(self, knowledge: Knowledge, steps: list[x.TwigNode], holds_inside: bool) -> None:
        self._knowledge = knowledge
        self._steps = steps
        self._holds_inside = holds_inside

    def ends(self) -> set[End]:
        roots = self._knowledge.schema.roots
        if not self._is_of_elements(0):
            return {(root,) for root in roots}
        ends: set[End] = set()
        for root in roots:
            states = self._taken(frozenset([0]), root)
            if states:
                ends |= self._inside((root,), states)
        return ends

    def _inside(self, way: End, states: frozenset[int]) -> set[End]:
        """Return the ends in an element that is there once at most, or its own."""
        schema, name = self._knowledge.schema, way[-1]
        if schema.is_open(name) or name in schema.recursive or any(map(self._is_here, states)):
            return {way}
        ends: set[End] = set()
        for child, occurs in schema.children(name).items():
            below = self._taken(states, child)
            if below and not occurs.is_single:
                return {way}
            if below:
                ends |= self._inside((*way, child), below)
        return {way} if len(ends) > _ENDS_MAX else ends

    def _is_here(self, state: int) -> bool:
        """Whether what is wanted may be the element itself, or no element, or is said of it."""
        if state == len(self._steps) or not self._is_of_elements(state):
            return True
        return self._holds_inside and state > 0 and self._steps[state - 1].where != x.TRUE

    def _is_of_elements(self, state: int) -> bool:
        step = self._steps[state]
        return step.axis in (Axis.CHILD, Axis.DESCENDANT) and step.test.kind is NodeKind.ELEMENT

    def _taken(self, states: frozenset[int], child: Name) -> frozenset[int]:
        """Return the states at a child of an element, without those that lead nowhere."""
        taken: set[int] = set()
        for state in states:
            step = self._steps[state]
            if fits(step.test, child):
                taken.add(state + 1)
            if step.axis is Axis.DESCENDANT:
                taken.add(state)
        return frozenset(state for state in taken if self._leads_on(child, state))

    def _leads_on(self, name: Name, state: int) -> bool:
        if state == len(self._steps) or not self._is_of_elements(state):
            return True
        step = self._steps[state]
        return self._knowledge.after(frozenset([name]), step.axis, step.test) != frozenset()
