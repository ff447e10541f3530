"""What is known of expressions: the members of sets, and the values of atoms.

A number is a range throughout. Positions and counts narrow down as nodes are decided, and a
comparison is known as soon as the ranges say it; sums and differences of ranges are ranges. All
other functions wait until their arguments are known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

from penstock.twigs import Query, Slot
from penstock.twigs.expressions import (
    Above,
    And,
    Atom,
    AtRoot,
    Call,
    Compare,
    Constant,
    Count,
    Exists,
    Filter,
    Here,
    Identified,
    JoinedStrings,
    Last,
    ListedStrings,
    NameOf,
    Nodes,
    Not,
    Or,
    PairCompare,
    Position,
    Root,
    SomeCompare,
    Step,
    StringOf,
    Sum,
    TwigNode,
    Union,
)
from penstock.twigs.nodetests import BACK
from penstock.twigs.own_parts import is_positional
from penstock_testing.kleene.lifetimes import Lifetimes
from penstock_testing.kleene.members import Horizon, Members, Place
from penstock_testing.kleene.ranges import ANY_COUNT, Range, compare_ranges, exactly
from penstock_testing.kleene.truth import Truth, all_of, any_of, inverse
from penstock_testing.reference.expressions import name_part, speaks, words_of
from penstock_testing.reference.functions import call
from penstock_testing.reference.paths import passes
from penstock_testing.reference.values import Atomic, compare, to_number
from penstock_testing.tree import Node, Tree

Known = str | bool | Range | None
"""What is known of a value; None is nothing at all."""

Listed = list[tuple[Node, Truth]]


@dataclass(frozen=True, slots=True)
class Spot:
    """A context node and what is known of its position and of the last one."""

    node: Node
    position: Range = ANY_COUNT
    last: Range = ANY_COUNT


class ExpressionKnowledge:
    """Members and values after the event at which the lifetimes stand.

    With ``is_order_late``, nothing is known of the order in a set that earlier nodes may join
    until the set is complete: not which node is the first, nor how far behind a node may be.
    """

    def __init__(
        self, query: Query, tree: Tree, lifetimes: Lifetimes, is_order_late: bool = False
    ) -> None:
        self._tree = tree
        self._lifetimes = lifetimes
        self._horizon = Horizon(tree, lifetimes)
        self._is_order_late = is_order_late
        # The query is kept so that the identities of its parts stay theirs.
        self._query = query
        self._now = lifetimes.event
        self._cache: dict[tuple[int, Spot], Members | Known] = {}

    def members_at_root(self, nodes: Nodes) -> dict[Node, Truth]:
        """Return the nodes that a whole query selects or may select."""
        return self.members(nodes, Spot(self._tree.root)).truths

    def is_known_at_root(self, atom: Atom) -> bool:
        """Return whether the value of a whole query is known."""
        value = self.value(atom, Spot(self._tree.root))
        return value.is_known if isinstance(value, Range) else value is not None

    def members(self, nodes: Nodes, spot: Spot) -> Members:
        """Return what is known of a set of nodes at a context."""
        found = self._recall(nodes, spot)
        if not isinstance(found, Members):
            found = self._cache[id(nodes), spot] = self._members(nodes, spot)
        return found

    def value(self, atom: Atom, spot: Spot) -> Known:
        """Return what is known of an atom at a context."""
        found = self._recall(atom, spot)
        if found is None or isinstance(found, Members):
            found = self._cache[id(atom), spot] = self._value(atom, spot)
        return found

    def truth(self, atom: Atom, spot: Spot) -> Truth:
        """Return what is known of an atom that is a truth value."""
        value = self.value(atom, spot)
        assert value is None or isinstance(value, bool), atom
        return value

    def _recall(self, part: Nodes | Atom, spot: Spot) -> Members | Known:
        if self._now != self._lifetimes.event:
            self._now = self._lifetimes.event
            self._cache.clear()
        return self._cache.get((id(part), spot))

    # Sets.

    def _members(self, nodes: Nodes, spot: Spot) -> Members:
        match nodes:
            case Here():
                return Members({spot.node: True})
            case Root():
                return Members({self._tree.root: True})
            case Step():
                return self._reached(nodes, self.members(nodes.base, spot))
            case Filter(base, predicates):
                found = self.members(base, spot)
                kept = self._kept(found.in_order(), found, predicates)
                joinable = found.joinable & kept.keys()
                return Members(kept, joinable, found.places, found.is_complete, found.is_late)
            case Union(parts):
                union = Members()
                for part in parts:
                    union.merge(self.members(part, spot))
                return union
            case Identified(words):
                return self._identified(self.value(words, spot))
            case TwigNode():
                raise TypeError("twigs have knowledge of their own")

    def _reached(self, step: Step, base: Members) -> Members:
        # What a single step back reaches is there at once; what comes after it is not.
        is_back = step.axis in BACK and not isinstance(step.base, Here | Root)
        is_back = is_back or (isinstance(step.base, Step) and step.base.axis in BACK)
        found = Members(is_complete=base.is_complete, is_late=base.is_late or is_back)
        for near, truth in base.truths.items():
            is_complete = self._horizon.is_complete(step.axis, near)
            found.is_complete = found.is_complete and is_complete
            listed: Listed = [
                (far, True)
                for far in self._horizon.present(step.axis, near)
                if passes(step.test, far)
            ]
            around = Members(is_complete=is_complete)
            for far, passed in self._kept(listed, around, step.predicates).items():
                found.add(far, all_of((truth, passed)), near in base.joinable)
            place = self._horizon.place_from(step.axis, near)
            if place is not None:
                found.places.add(place)
        for place in base.places:
            self._join(step, place, found)
        return found

    def _join(self, step: Step, place: Place, found: Members) -> None:
        """Add what a step reaches from nodes that are still to come."""
        for far in self._horizon.reached_from(step.axis, place):
            if passes(step.test, far):
                # From where it will be reached is unknown, and so is its position.
                truths = (self.truth(predicate, Spot(far)) for predicate in step.predicates)
                if all_of(truths) is not False:
                    found.add(far, None, is_joinable=True)
        beyond = self._horizon.place_beyond(step.axis, place)
        if beyond is not None:
            found.places.add(beyond)

    def _kept(
        self, listed: Listed, around: Members, predicates: Sequence[Atom]
    ) -> dict[Node, Truth]:
        """The nodes of a list that pass the predicates or may pass them.

        While a node may still join before it, there is no upper end to the position of a node; in
        a set that is ordered late, nothing is known of positions until it is complete.
        """
        for predicate in predicates:
            has_position = is_positional(predicate)
            last = _count(listed, around.is_complete)
            kept: Listed = []
            sure, possible = 0, 0.0
            for node, truth in listed:
                spot = Spot(node, Range(1 + sure, 1 + possible), last)
                passed = self.truth(predicate, spot if has_position else Spot(node))
                if has_position and self._is_unordered(around):
                    passed = None
                if passed is not False:
                    kept.append((node, all_of((truth, passed))))
                sure += truth is True
                possible += math.inf if node in around.joinable else 1
            listed = kept
        return dict(listed)

    def _identified(self, words: Known) -> Members:
        wanted = words_of(words) if isinstance(words, str) else None
        found = Members(is_complete=self._lifetimes.is_closed(self._tree.root), is_late=True)
        for word, element in self._tree.ids.items():
            if self._lifetimes.is_born(element) and (wanted is None or word in wanted):
                found.add(element, None if wanted is None else True)
        if not found.is_complete:
            found.places.add(Place(self._tree.root, True))
        return found

    # Atoms.

    def _value(self, atom: Atom, spot: Spot) -> Known:
        match atom:
            case Slot(index):
                return _known(self._query.constants[index])
            case Constant(truth):
                return truth
            case Compare(operator, left, right):
                return self._compare(operator, self.value(left, spot), self.value(right, spot))
            case Call(function, arguments):
                return self._called(function, [self.value(a, spot) for a in arguments], spot.node)
            case And(parts):
                return all_of(self.truth(part, spot) for part in parts)
            case Or(parts):
                return any_of(self.truth(part, spot) for part in parts)
            case Not(part):
                return inverse(self.truth(part, spot))
            case Position():
                return spot.position
            case Last():
                return spot.last
            case Exists(nodes):
                found = self.members(nodes, spot)
                return _some(found, found.truths.values())
            case SomeCompare(operator, nodes, value):
                return self._some_compare(operator, self.members(nodes, spot), value, spot)
            case PairCompare(operator, near, far):
                sides = self.members(near, spot), self.members(far, spot)
                return self._pair_compare(operator, *sides)
            case Count(nodes):
                found = self.members(nodes, spot)
                return _count(list(found.truths.items()), found.is_complete)
            case Sum(nodes):
                strings = self._all_strings(self.members(nodes, spot))
                return None if strings is None else exactly(sum(map(to_number, strings), 0.0))
            case JoinedStrings(nodes):
                strings = self._all_strings(self.members(nodes, spot))
                return None if strings is None else " ".join(strings)
            case ListedStrings():
                raise TypeError("it stands in no query that is evaluated here")
            case StringOf(nodes):
                return self._of_first(self.members(nodes, spot), None)
            case Above(test, inner, otherwise):
                parent = spot.node.parent
                is_there = parent is not None and passes(test, parent)
                return self.value(inner if is_there else otherwise, Spot(parent or spot.node))
            case NameOf(part, nodes):
                return self._of_first(self.members(nodes, spot), part)
            case AtRoot():
                raise TypeError("twigs have knowledge of their own")

    def _called(self, function: str, values: list[Known], node: Node) -> Known:
        match function, values:
            case ("+", [Range() as left, Range() as right]):
                return left + right
            case ("-", [Range() as left, Range() as right]):
                return left - right
            case ("negate", [Range() as number]):
                return -number
        atoms = [_atom(value) for value in values]
        known = [atom for atom in atoms if atom is not None]
        if len(known) < len(values):
            return None
        return speaks(str(known[0]), node) if function == "lang" else _known(call(function, known))

    def _compare(self, operator: str, left: Known, right: Known) -> Truth:
        if isinstance(left, Range) and isinstance(right, Range):
            return compare_ranges(operator, left, right)
        one, other = _atom(left), _atom(right)
        return None if one is None or other is None else compare(operator, one, other)

    def _some_compare(self, operator: str, found: Members, value: Atom, spot: Spot) -> Truth:
        if found.is_complete and not found.truths:
            return False
        atom = _atom(self.value(value, spot))
        if atom is None:
            return None
        compared = (
            all_of((truth, self._compare_node(operator, node, atom)))
            for node, truth in found.truths.items()
        )
        return _some(found, compared)

    def _compare_node(self, operator: str, node: Node, atom: Atomic) -> Truth:
        string = self._string(node)
        return None if string is None else compare(operator, string, atom)

    def _pair_compare(self, operator: str, left: Members, right: Members) -> Truth:
        if any(side.is_complete and not side.truths for side in (left, right)):
            return False
        for near, far in product(left.sure, right.sure):
            one, other = self._string(near), self._string(far)
            if one is not None and other is not None and compare(operator, one, other):
                return True
        sides = self._all_strings(left), self._all_strings(right)
        return None if None in sides else False

    def _all_strings(self, found: Members) -> list[str] | None:
        """The string values of all nodes in document order, once all of it is known."""
        if not found.is_decided:
            return None
        strings = [self._string(node) for node, _ in found.in_order()]
        known = [string for string in strings if string is not None]
        return known if len(known) == len(strings) else None

    def _of_first(self, found: Members, part: str | None) -> str | None:
        """The string value, or a part of the name, of the first node in document order."""
        if self._is_unordered(found):
            return None
        if not found.truths:
            return "" if found.is_complete else None
        # Whoever is still to come is behind everyone who is there.
        first, truth = found.in_order()[0]
        if truth is None:
            return None
        return self._string(first) if part is None else name_part(part, first)

    def _is_unordered(self, found: Members) -> bool:
        return self._is_order_late and found.is_late and not found.is_complete

    def _string(self, node: Node) -> str | None:
        return node.string_value() if self._lifetimes.is_closed(node) else None


def _some(found: Members, truths: Iterable[Truth]) -> Truth:
    """Whether some member passes: as long as more may come, it is never sure that none does."""
    truth = any_of(truths)
    return None if truth is False and not found.is_complete else truth


def _count(listed: Listed, is_complete: bool) -> Range:
    sure = sum(1 for _, truth in listed if truth)
    return Range(sure, len(listed) if is_complete else math.inf)


def _known(value: Atomic) -> Known:
    return exactly(value) if isinstance(value, float) else value


def _atom(value: Known) -> Atomic | None:
    if isinstance(value, Range):
        # A count is an integer here, and strings are compared with numbers only as floats.
        return float(value.low) if value.is_known else None
    return value
