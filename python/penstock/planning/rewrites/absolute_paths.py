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
from penstock.twigs import patterns as t
from penstock.twigs.depth import roots_of
from penstock.twigs.logic import conjunction, disjunction, negation, simplified
from penstock.twigs.parts import P, Part, all_parts, map_parts, parts_of, rewrite
from penstock.twigs.queries import NoTwigError

ALTERNATIVES_MAX = 8
"""Cases that one path may be split into."""


class Occurrence(NamedTuple):
    """A condition at the document node, without another inside it.

    ``sign`` is true where the whole can only gain if the condition holds, false where it can
    only lose; a condition inside a value occurs with both.
    """

    key: Key
    sign: bool
    condition: t.Condition


def hoist_absolute_paths(query: Query) -> Query:
    """Return the query without ``AtRoot``.

    Raises:
        NoTwigError: A path would be split into more than ``ALTERNATIVES_MAX`` cases, or an
            absolute path decides which node's value is taken.
    """
    if not any(isinstance(part, t.AtRoot) for part in all_parts(*roots_of(query))):
        return query
    hoisting = _Hoisting(query)
    blocks = tuple(hoisting.block(block) for block in query.blocks)
    output = query.output
    if isinstance(output, Value):
        output = replace(output, scalar=hoisting.value(output.scalar))
    # The cases that were split off may be dead; they are dropped here.
    return fold_constants(replace(query, blocks=blocks, output=output))


class _Hoisting:
    def __init__(self, query: Query) -> None:
        self.keys = Keys(query.constants)
        self.constants = query.constants

    def block(self, block: Block) -> Block:
        """Split every alternative until none mentions the document node."""
        alternatives: list[t.TwigNode] = []
        for alternative in block.alternatives:
            alternatives += self.cases(alternative)
        return replace(block, alternatives=tuple(alternatives))

    def cases(self, alternative: t.TwigNode) -> list[t.TwigNode]:
        """Return the alternatives that one amounts to."""
        done: list[t.TwigNode] = []
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

    def split(self, twig: t.TwigNode, occurrences: list[Occurrence]) -> list[t.TwigNode]:
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

    def either_way(self, twig: t.TwigNode, key: Key) -> t.TwigNode:
        """Return the twig with every condition on its spine holding for both values of one."""
        where = twig.where
        if any(occurrence.key == key for occurrence in self.occurrences(where)):
            where = conjunction(self.fix(where, key, True), self.fix(where, key, False))
        branches = tuple(
            t.Branch(self.either_way(branch.node, key), branch.optional) for branch in twig.branches
        )
        return replace(twig, where=where, branches=branches)

    def is_dead(self, twig: t.TwigNode) -> bool:
        """Return whether a twig can never match."""
        query = Query(
            (Block((twig,)),), Value(t.BooleanOf(TRUE), t.ValueType.BOOLEAN), self.constants
        )
        return not fold_constants(query).blocks[0].alternatives

    def value(self, scalar: t.Scalar) -> t.Scalar:
        """Return a value at the document node without ``AtRoot``."""
        if isinstance(scalar, t.BooleanOf):
            return t.BooleanOf(self.condition(_unwrap(scalar.condition), 1))
        if isinstance(scalar, t.Call):
            return map_parts(scalar, self.value)
        if isinstance(scalar, t.StringOf | t.NameOf) and scalar.node is not None:
            return self.first_node(scalar, scalar.node)
        return scalar

    def first_node(self, scalar: t.StringOf | t.NameOf, node: t.TwigNode) -> t.Scalar:
        """Return a value at the document node, its guards moved to a step before its path."""
        if not any(self.occurrences(node)):
            return scalar
        root = t.TwigNode(Axis.SELF, NodeTest(NodeKind.DOCUMENT), branches=(t.Branch(node),))
        cases = self.cases(root)
        if len(cases) == 1:
            return replace(scalar, node=cases[0])
        if not cases:
            return replace(scalar, node=replace(root, where=FALSE))
        raise NoTwigError("an absolute path decides which node's value is taken")

    def condition(self, condition: t.Condition, count: int) -> t.Condition:
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

        def settle(condition: t.AtRoot) -> t.Condition:
            return t.Constant(value) if self.keys.of_condition(condition.part) == key else condition

        fixed: P = rewrite(part, {t.AtRoot: settle})
        return fixed

    def occurrences(self, *parts: Part, sign: bool = True) -> Iterator[Occurrence]:
        """Yield the conditions at the document node, in the order of the printed form."""
        waiting = [(part, sign) for part in reversed(parts)]
        while waiting:
            part, sign = waiting.pop()
            below = [(inner, sign) for inner in reversed(parts_of(part))]
            match part:
                case t.Not(part=condition):
                    below = [(condition, not sign)]
                case t.Compare() | t.Holds():
                    # A value may gain or lose by any condition inside it.
                    below += [(inner, not sign) for inner, _ in below]
                case t.AtRoot(part=condition):
                    if not any(isinstance(inner, t.AtRoot) for inner in all_parts(condition)):
                        yield Occurrence(self.keys.of_condition(condition), sign, condition)
            waiting += below


def _too_many() -> NoTwigError:
    return NoTwigError(
        f"absolute paths in predicates split a path into over {ALTERNATIVES_MAX} cases"
    )


def _cases(occurrences: list[Occurrence]) -> Iterator[tuple[bool, Key, t.Condition]]:
    """Yield the two cases of the first condition: its value, its key, its guard.

    Where the whole can only gain by the other value, a case holds without a guard.
    """
    key, _, literal = occurrences[0]
    signs = {occurrence.sign for occurrence in occurrences if occurrence.key == key}
    for value in (True, False):
        guard = literal if value else negation(literal)
        yield value, key, TRUE if signs == {not value} else guard


def _unwrap(condition: t.Condition) -> t.Condition:
    """Return a condition at the document node, where ``AtRoot`` changes nothing."""
    match condition:
        case t.And() | t.Or() | t.Not():
            return simplified(map_parts(condition, _unwrap))
        case t.AtRoot(part=part):
            return _unwrap(part)
        case _:
            return condition
