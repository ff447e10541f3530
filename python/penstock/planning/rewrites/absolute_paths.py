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
from penstock.planning.traversal import Traversal
from penstock.twigs import (
    FALSE,
    TRUE,
    And,
    AtRoot,
    Axis,
    Block,
    BooleanOf,
    Branch,
    Call,
    Compare,
    Condition,
    Exists,
    Holds,
    NameOf,
    NodeKind,
    NodeTest,
    Not,
    Or,
    Query,
    Scalar,
    StringOf,
    TwigNode,
    Value,
    ValueType,
)
from penstock.twigs.logic import conjunction, disjunction, negation
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
    condition: Condition


def hoist_absolute_paths(query: Query) -> Query:
    """Return the query without ``AtRoot``.

    Raises:
        NoTwigError: A path would be split into more than ``ALTERNATIVES_MAX`` cases, or an
            absolute path decides which node's value is taken.
    """
    if not _mentions_root(query):
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
        alternatives: list[TwigNode] = []
        for alternative in block.alternatives:
            alternatives += self.cases(alternative)
        return replace(block, alternatives=tuple(alternatives))

    def cases(self, alternative: TwigNode) -> list[TwigNode]:
        """Return the alternatives that one amounts to."""
        done: list[TwigNode] = []
        waiting = [replace(alternative, where=_unwrap(alternative.where))]
        while waiting:
            twig = waiting.pop()
            found = list(self.occurrences_in_twig(twig, True))
            if found:
                waiting += self.split(twig, found)
            else:
                done.append(twig)
            if len(done) + len(waiting) > ALTERNATIVES_MAX:
                raise _too_many()
        return done

    def split(self, twig: TwigNode, found: list[Occurrence]) -> list[TwigNode]:
        """Return a twig by the two cases of one condition at its root, dead ones left out."""
        cases = []
        guards = 0
        for value, key, guard in _cases(found):
            fixed = _Substitution(self.keys, key, value).twig(twig)
            cases.append(replace(fixed, where=conjunction(fixed.where, guard)))
            guards += guard is not TRUE
        if guards == 2:
            cases.append(self.either_way(twig, found[0].key))
        return [case for case in cases if not self.is_dead(case)]

    def either_way(self, twig: TwigNode, key: Key) -> TwigNode:
        """Return the twig with every condition on its spine holding for both values of one."""
        true, false = (_Substitution(self.keys, key, value) for value in (True, False))
        where = twig.where
        if any(occurrence.key == key for occurrence in self.occurrences(where, True)):
            where = conjunction(true.condition(where), false.condition(where))
        branches = tuple(
            Branch(self.either_way(branch.node, key), branch.optional) for branch in twig.branches
        )
        return replace(twig, where=where, branches=branches)

    def is_dead(self, twig: TwigNode) -> bool:
        """Return whether a twig can never match."""
        query = Query((Block((twig,)),), Value(BooleanOf(TRUE), ValueType.BOOLEAN), self.constants)
        return not fold_constants(query).blocks[0].alternatives

    def value(self, scalar: Scalar) -> Scalar:
        """Return a value at the document node without ``AtRoot``."""
        if isinstance(scalar, BooleanOf):
            return BooleanOf(self.condition(_unwrap(scalar.condition), 1))
        if isinstance(scalar, Call):
            arguments = tuple([self.value(argument) for argument in scalar.arguments])
            return Call(scalar.function, arguments)
        if isinstance(scalar, StringOf | NameOf) and scalar.node is not None:
            return self.first_node(scalar, scalar.node)
        return scalar

    def first_node(self, scalar: StringOf | NameOf, node: TwigNode) -> Scalar:
        """Return a value at the document node, its guards moved to a step before its path."""
        if not any(True for _ in self.occurrences_in_twig(node, True)):
            return scalar
        root = TwigNode(Axis.SELF, NodeTest(NodeKind.DOCUMENT), branches=(Branch(node),))
        cases = self.cases(root)
        if len(cases) == 1:
            return replace(scalar, node=cases[0])
        if not cases:
            return replace(scalar, node=replace(root, where=FALSE))
        raise NoTwigError("an absolute path decides which node's value is taken")

    def condition(self, condition: Condition, count: int) -> Condition:
        """Return a condition at the document node, split by the absolute parts inside it."""
        found = list(self.occurrences(condition, True))
        if not found:
            return condition
        if count > ALTERNATIVES_MAX:
            raise _too_many()
        cases = []
        parts = []
        guards = 0
        for value, key, guard in _cases(found):
            fixed = _Substitution(self.keys, key, value).condition(condition)
            parts.append(self.condition(fixed, count * 2))
            cases.append(conjunction(guard, parts[-1]))
            guards += guard is not TRUE
        if guards == 2:
            cases.append(conjunction(*parts))
        return disjunction(*cases)

    def occurrences_in_twig(self, node: TwigNode, sign: bool) -> Iterator[Occurrence]:
        waiting = [node]
        while waiting:
            step = waiting.pop()
            yield from self.occurrences(step.where, sign)
            waiting += [branch.node for branch in reversed(step.branches)]

    def occurrences(self, condition: Condition, sign: bool) -> Iterator[Occurrence]:
        match condition:
            case And(parts=parts) | Or(parts=parts):
                for part in parts:
                    yield from self.occurrences(part, sign)
            case Not(part=part):
                yield from self.occurrences(part, not sign)
            case Exists(node=node):
                yield from self.occurrences_in_twig(node, sign)
            case Compare(left=left, right=right):
                yield from self.occurrences_in_scalar(left)
                yield from self.occurrences_in_scalar(right)
            case Holds(scalar=scalar):
                yield from self.occurrences_in_scalar(scalar)
            case AtRoot(part=part):
                inner = list(self.occurrences(part, sign))
                if inner:
                    yield from inner
                else:
                    yield Occurrence(self.keys.of_condition(part), sign, part)

    def occurrences_in_scalar(self, scalar: Scalar) -> Iterator[Occurrence]:
        """Yield both signs: a value may gain or lose by any condition inside it."""
        match scalar:
            case StringOf(node=node) | NameOf(node=node) if node is not None:
                for sign in (True, False):
                    yield from self.occurrences_in_twig(node, sign)
            case Call(arguments=arguments):
                for argument in arguments:
                    yield from self.occurrences_in_scalar(argument)
            case BooleanOf(condition=condition):
                for sign in (True, False):
                    yield from self.occurrences(condition, sign)


def _too_many() -> NoTwigError:
    return NoTwigError(
        f"absolute paths in predicates split a path into over {ALTERNATIVES_MAX} cases"
    )


def _cases(found: list[Occurrence]) -> Iterator[tuple[bool, Key, Condition]]:
    """Yield the two cases of the first condition found: its value, its key, its guard.

    Where the whole can only gain by the other value, a case holds without a guard.
    """
    key, _, literal = found[0]
    signs = {occurrence.sign for occurrence in found if occurrence.key == key}
    for value in (True, False):
        guard = literal if value else negation(literal)
        yield value, key, TRUE if signs == {not value} else guard


class _Substitution(Traversal):
    """Puts a truth value in the place of one condition at the document node."""

    def __init__(self, keys: Keys, key: Key, value: bool) -> None:
        self.keys = keys
        self.key = key
        self.value = TRUE if value else FALSE

    def leave_condition(self, condition: Condition) -> Condition:
        if isinstance(condition, AtRoot) and self.keys.of_condition(condition.part) == self.key:
            return self.value
        return condition


def _unwrap(condition: Condition) -> Condition:
    """Return a condition at the document node, where ``AtRoot`` changes nothing."""
    match condition:
        case And(parts=parts):
            return conjunction(*[_unwrap(part) for part in parts])
        case Or(parts=parts):
            return disjunction(*[_unwrap(part) for part in parts])
        case Not(part=part):
            return negation(_unwrap(part))
        case AtRoot(part=part):
            return _unwrap(part)
        case _:
            return condition


class _Search(Traversal):
    found = False

    def leave_condition(self, condition: Condition) -> Condition:
        self.found = self.found or isinstance(condition, AtRoot)
        return condition


def _mentions_root(query: Query) -> bool:
    search = _Search()
    search.query(query)
    return search.found
