"""An absolute path inside a predicate becomes a condition on the document node.

``//item[/site/x and p]`` is ``/self::node()[site/x]//item[p]``. In general an alternative A that
mentions the condition r at the document node is split by cases (Shannon): A with r true, guarded
by r at its root, and A with r false, guarded by not(r). The guard of a case is dropped where A
only gains by the other value, so that ``//a[/x or p]`` gives ``/self::node()[x]//a`` and
``//a[p]``, and nothing waits for the absence of x. Where A may gain and lose, a third case without
a guard says that A holds either way, so that nobody waits for an r that does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from penstock.planning.keys import Key, Keys
from penstock.planning.rewrites.constants import fold_constants
from penstock.twigs import FALSE, TRUE, Axis, Block, NodeKind, NodeTest, Query, Value
from penstock.twigs import expressions as x
from penstock.twigs.depth import roots_of
from penstock.twigs.logic import conjunction, disjunction, negation, simplified
from penstock.twigs.parts import P, Part, all_parts, map_parts, parts_of, rewrite
from penstock.twigs.queries import NoTwigError

ALTERNATIVES_MAX = 8
"""Cases that one path may be split into."""


class Occurrence(NamedTuple):
    """A condition at the document node, without another inside it.

    ``signs`` has true where the whole may gain if the condition holds, false where it may lose; a
    condition inside a value has both.
    """

    key: Key
    signs: frozenset[bool]
    condition: x.Condition


def hoist_absolute_paths(query: Query) -> Query:
    """Return the query without ``AtRoot``.

    Raises:
        NoTwigError: A path would be split into more than ``ALTERNATIVES_MAX`` cases, or an
            absolute path decides which node's value is taken.
    """
    if not any(isinstance(part, x.AtRoot) for part in all_parts(*roots_of(query))):
        return query
    hoisting = _Hoisting(query)
    blocks = tuple(hoisting.block(block) for block in query.blocks)
    output = query.output
    if isinstance(output, Value):
        output = replace(output, atom=hoisting.value(output.atom))
    # The cases that were split off may be dead; they are dropped here.
    return fold_constants(replace(query, blocks=blocks, output=output))


class _Hoisting:
    def __init__(self, query: Query) -> None:
        self.keys = Keys(query.constants)
        self.constants = query.constants

    def block(self, block: Block) -> Block:
        """Split every alternative until none mentions the document node."""
        alternatives: list[x.TwigNode] = []
        for alternative in block.alternatives:
            alternatives += self.cases(alternative)
        return replace(block, alternatives=tuple(alternatives))

    def cases(self, alternative: x.TwigNode) -> list[x.TwigNode]:
        """Return the alternatives that one amounts to."""
        done: list[x.TwigNode] = []
        waiting = [replace(alternative, where=_unwrap(alternative.where))]
        while waiting:
            twig = waiting.pop()
            occurrences = list(self.occurrences(twig))
            if occurrences:
                waiting += self.split(twig, occurrences)
            else:
                done.append(twig)
            if len(done) + len(waiting) > ALTERNATIVES_MAX:
                raise _too_many()
        return done

    def split(self, twig: x.TwigNode, occurrences: list[Occurrence]) -> list[x.TwigNode]:
        """Return a twig by the two cases of one condition at its root, dead ones left out."""
        cases = []
        guards = 0
        for value, key, guard in _cases(occurrences):
            fixed = self.fix(twig, key, value)
            cases.append(replace(fixed, where=conjunction(fixed.where, guard)))
            guards += guard is not TRUE
        if guards == 2:
            cases.append(self.either_way(twig, occurrences[0].key))
        return [case for case in cases if not self.is_dead(case)]

    def either_way(self, twig: x.TwigNode, key: Key) -> x.TwigNode:
        """Return the twig with every condition on its spine holding for both values of one."""
        where = twig.where
        if any(occurrence.key == key for occurrence in self.occurrences(where)):
            where = conjunction(self.fix(where, key, True), self.fix(where, key, False))
        branches = tuple(
            x.Branch(self.either_way(branch.node, key), branch.optional) for branch in twig.branches
        )
        return replace(twig, where=where, branches=branches)

    def is_dead(self, twig: x.TwigNode) -> bool:
        """Return whether a twig can never match."""
        query = Query((Block((twig,)),), Value(TRUE, x.ValueType.BOOLEAN), self.constants)
        return not fold_constants(query).blocks[0].alternatives

    def value(self, atom: x.Atom) -> x.Atom:
        """Return a value at the document node without ``AtRoot``."""
        if x.is_condition(atom):
            return self.condition(_unwrap(atom), 1)
        match atom:
            case x.Call():
                return map_parts(atom, self.value)
            case x.StringOf(nodes=x.TwigNode() as node) | x.NameOf(nodes=x.TwigNode() as node):
                return self.first_node(atom, node)
        return atom

    def first_node(self, atom: x.StringOf | x.NameOf, node: x.TwigNode) -> x.Atom:
        """Return a value at the document node, its guards moved to a step before its path."""
        if not any(self.occurrences(node)):
            return atom
        root = x.TwigNode(Axis.SELF, NodeTest(NodeKind.DOCUMENT), branches=(x.Branch(node),))
        cases = self.cases(root)
        if len(cases) == 1:
            return replace(atom, nodes=cases[0])
        if not cases:
            return replace(atom, nodes=replace(root, where=FALSE))
        raise NoTwigError("an absolute path decides which node's value is taken")

    def condition(self, condition: x.Condition, count: int) -> x.Condition:
        """Return a condition at the document node, split by the absolute parts inside it."""
        occurrences = list(self.occurrences(condition))
        if not occurrences:
            return condition
        if count > ALTERNATIVES_MAX:
            raise _too_many()
        cases = []
        parts = []
        guards = 0
        for value, key, guard in _cases(occurrences):
            fixed = self.fix(condition, key, value)
            parts.append(self.condition(fixed, count * 2))
            cases.append(conjunction(guard, parts[-1]))
            guards += guard is not TRUE
        if guards == 2:
            cases.append(conjunction(*parts))
        return disjunction(*cases)

    def fix(self, part: P, key: Key, value: bool) -> P:
        """Return a part with a truth value in the place of one condition at the document node."""

        def settle(condition: x.AtRoot) -> x.Condition:
            return x.Constant(value) if self.keys.of_condition(condition.part) == key else condition

        fixed: P = rewrite(part, {x.AtRoot: settle})
        return fixed

    def occurrences(self, part: Part) -> Iterator[Occurrence]:
        """Yield the conditions at the document node, in the order of the printed form."""
        waiting: list[tuple[Part, frozenset[bool]]] = [(part, frozenset({True}))]
        while waiting:
            part, signs = waiting.pop()
            match part:
                case x.Not():
                    signs = frozenset({not sign for sign in signs})
                case x.Compare() | x.Call():
                    # A value may gain or lose by any condition inside it.
                    signs = frozenset({True, False})
                case x.AtRoot(part=condition):
                    if not any(isinstance(inner, x.AtRoot) for inner in all_parts(condition)):
                        yield Occurrence(self.keys.of_condition(condition), signs, condition)
            waiting += [(inner, signs) for inner in reversed(parts_of(part))]


def _too_many() -> NoTwigError:
    return NoTwigError(
        f"absolute paths in predicates split a path into over {ALTERNATIVES_MAX} cases"
    )


def _cases(occurrences: list[Occurrence]) -> Iterator[tuple[bool, Key, x.Condition]]:
    """Yield the two cases of the first condition: its value, its key, its guard.

    Where the whole can only gain by the other value, a case holds without a guard.
    """
    key, _, literal = occurrences[0]
    signs = frozenset[bool]().union(*[one.signs for one in occurrences if one.key == key])
    for value in (True, False):
        guard = literal if value else negation(literal)
        yield value, key, TRUE if signs == {not value} else guard


def _unwrap(condition: x.Condition) -> x.Condition:
    """Return a condition at the document node, where ``AtRoot`` changes nothing."""
    match condition:
        case x.And() | x.Or() | x.Not():
            return simplified(map_parts(condition, _unwrap))
        case x.AtRoot(part=part):
            return _unwrap(part)
        case _:
            return condition
