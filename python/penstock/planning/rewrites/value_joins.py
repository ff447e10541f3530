"""Paths in the predicates of operators move into the blocks: value-join normal form.

``A->x JOIN{x//k = y/@k, T} B->y`` is ``A->x[.//k->p] JOIN{p = q, T} B->y[@k->q]`` (MMQJP,
section 2): a comparison of paths holds for some of their nodes, and a new variable is bound to
each. Nobody selects the new variables, so the distinct tuples of selected bindings stay the same.
A term that mentions one block only becomes a filter of that block, and a term about blocks that
an earlier operator joins moves to that operator.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.twigs import Block, Branch, Comparison, Join, Operand, PathTerm, Query, TwigNode
from penstock.twigs.expressions import variables_of
from penstock.twigs.logic import FLIPPED


def to_value_joins(query: Query) -> Query:
    """Return the query with comparisons between variables only."""
    if not any(join.terms for join in query.joins):
        return query
    return _ValueJoins(query).query()


class _ValueJoins:
    def __init__(self, query: Query) -> None:
        self._query = query
        self._block_of = {
            variable: number
            for number, block in enumerate(query.blocks)
            for twig in block.alternatives
            for variable in variables_of(twig)
        }
        self._made = 0
        self._branches: dict[str, list[Branch]] = {}
        self._filters: dict[int, list[Comparison]] = {}
        self._joined: dict[int, list[Comparison]] = {}

    def query(self) -> Query:
        for join in self._query.joins:
            for term in join.terms:
                self._settle(term)
        blocks = tuple(self._block(n, block) for n, block in enumerate(self._query.blocks))
        joins = tuple(self._join(join) for join in self._query.joins)
        return replace(self._query, blocks=blocks, joins=joins)

    def _settle(self, term: PathTerm) -> None:
        left, right = self._block_of[term.left.variable], self._block_of[term.right.variable]
        comparison = Comparison(self._bind(term.left), term.operator, self._bind(term.right))
        if left > right:
            operator = FLIPPED[term.operator]
            comparison = Comparison(comparison.right, operator, comparison.left)
        # Block n is joined by the operator whose right side it is.
        into = self._filters if left == right else self._joined
        into.setdefault(max(left, right), []).append(comparison)

    def _bind(self, operand: Operand) -> str:
        """Return the variable of an operand, a new one where it has a path."""
        if operand.path is None:
            return operand.variable
        self._made += 1
        # A name that nobody can write.
        name = f"{operand.variable}/{self._made}"
        branch = Branch(_bound(operand.path, name))
        self._branches.setdefault(operand.variable, []).append(branch)
        return name

    def _block(self, number: int, block: Block) -> Block:
        alternatives = tuple(self._extend(twig) for twig in block.alternatives)
        filters = (*block.filters, *self._filters.get(number, ()))
        return replace(block, alternatives=alternatives, filters=filters)

    def _extend(self, twig: TwigNode) -> TwigNode:
        branches = [replace(branch, node=self._extend(branch.node)) for branch in twig.branches]
        if twig.variable is not None:
            branches += self._branches.get(twig.variable, ())
        return replace(twig, branches=tuple(branches))

    def _join(self, join: Join) -> Join:
        joined = self._joined.get(join.right, ())
        equalities = [(one.left, one.right) for one in joined if one.operator == "="]
        inequalities = [one for one in joined if one.operator != "="]
        return replace(
            join,
            equalities=tuple(dict.fromkeys((*join.equalities, *equalities))),
            inequalities=tuple(dict.fromkeys((*join.inequalities, *inequalities))),
            terms=(),
        )


def _bound(path: TwigNode, name: str) -> TwigNode:
    """Return a path with its last node bound."""
    if not path.branches:
        return replace(path, variable=name)
    (branch,) = path.branches
    return replace(path, branches=(replace(branch, node=_bound(branch.node, name)),))
