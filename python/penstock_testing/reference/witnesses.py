"""Witnesses: how a twig lies in a document, as a forest of matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from penstock.twigs import Block, TwigNode
from penstock.twigs.expressions import variables_of
from penstock_testing.reference.expressions import Scope, holds
from penstock_testing.reference.paths import in_document_order, nodes_on, passes
from penstock_testing.tree import Node

Bindings = Mapping[str, Node]


@dataclass(frozen=True, eq=False, slots=True)
class Match:
    """A twig node held at a node of the document, with the matches of each of its branches."""

    twig: TwigNode
    node: Node
    branches: tuple[tuple[Match, ...], ...]


def matches(twig: TwigNode, context: Node, scope: Scope) -> Iterator[Match]:
    """Yield every match of a twig seen from a context node."""
    for node in nodes_on(twig.axis, context):
        if passes(twig.test, node) and holds(twig.where, node, scope):
            branches = tuple(tuple(matches(b.node, node, scope)) for b in twig.branches)
            if all(b.optional or found for b, found in zip(twig.branches, branches, strict=True)):
                yield Match(twig, node, branches)


def matches_of(block: Block, scope: Scope) -> list[Match]:
    """Return the matches of all alternatives of a block in a document."""
    return [match for twig in block.alternatives for match in matches(twig, scope.root, scope)]


def bound(forest: Iterable[Match], variable: str, around: Bindings | None = None) -> list[Node]:
    """Return the nodes bound to a variable under the bindings around it, in document order."""
    found: list[Node] = []
    for match in forest:
        _collect(match, variable, around or {}, found)
    return in_document_order(found)


def tuples(match: Match) -> Iterator[dict[str, Node]]:
    """Yield the bindings of all variables of required branches, one embedding after the other."""
    own = {match.twig.variable: match.node} if match.twig.variable else {}
    required = [
        [bindings for below in found for bindings in tuples(below)]
        for branch, found in zip(match.twig.branches, match.branches, strict=True)
        if not branch.optional
    ]
    for combination in product(*required):
        bindings = dict(own)
        for part in combination:
            bindings.update(part)
        yield bindings


def _collect(match: Match, variable: str, around: Bindings, found: list[Node]) -> None:
    if _agrees(match, around):
        if match.twig.variable == variable:
            found.append(match.node)
        for branch in match.branches:
            for below in branch:
                _collect(below, variable, around, found)


def _agrees(match: Match, around: Bindings) -> bool:
    """Whether some embedding in this match has all the bindings around that lie within it."""
    own = match.twig.variable
    if own is not None and around.get(own, match.node) is not match.node:
        return False
    return all(
        any(_agrees(below, around) for below in found)
        for branch, found in zip(match.twig.branches, match.branches, strict=True)
        if any(name in around for name in variables_of(branch.node))
    )
