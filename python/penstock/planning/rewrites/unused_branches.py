"""Branches whose variables nobody asks for become conditions.

``S//book->x[.//author->y]`` alone asks for books; an author must be there, but which one does not
matter. The path to the results is then the only branch that is left.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.twigs import Aggregate, Fragments, Query, TwigNode
from penstock.twigs.logic import conjunction, existence


def drop_unused_branches(query: Query) -> Query:
    """Return a query for the nodes of one variable with the branches that lead to them only."""
    if not isinstance(query.output, Fragments | Aggregate) or len(query.blocks) != 1:
        return query
    (block,) = query.blocks
    if all(_is_path(twig, query.output.variable) for twig in block.alternatives):
        return query
    wanted = {query.output.variable}
    if isinstance(query.output, Fragments):
        wanted.update(query.output.beside)
    alternatives = tuple(_narrow(twig, wanted) for twig in block.alternatives)
    return replace(query, blocks=(replace(block, alternatives=alternatives),))


def _is_path(twig: TwigNode, variable: str) -> bool:
    while len(twig.branches) == 1:
        twig = twig.branches[0].node
    return twig.variable == variable and not twig.branches


def _narrow(twig: TwigNode, wanted: set[str]) -> TwigNode:
    branches = []
    where = twig.where
    for branch in twig.branches:
        if _binds(branch.node, wanted):
            branches.append(replace(branch, node=_narrow(branch.node, wanted)))
        elif not branch.optional:
            where = conjunction(where, existence(branch.node))
    variable = twig.variable if twig.variable in wanted else None
    return TwigNode(twig.axis, twig.test, where, variable, tuple(branches))


def _binds(twig: TwigNode, wanted: set[str]) -> bool:
    return twig.variable in wanted or any(_binds(b.node, wanted) for b in twig.branches)
