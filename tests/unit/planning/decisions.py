"""What the tests of rewrites for the circuit share: which byte decides which result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Any
from unittest.mock import patch

from penstock.kernel import trace
from penstock.languages.xpath import xpath
from penstock.limits import Limits
from penstock.planning import circuit_forms
from penstock.planning.compile import compile_query
from penstock.planning.normalise import normalise
from penstock.twigs import Query, Selection
from penstock.twigs.expressions import Nodes
from penstock.twigs.queries import as_expression
from penstock.twigs.slots import SlotTable
from penstock_testing.generate import NAMESPACES, DocumentKnobs, random_document
from penstock_testing.kleene import earliest, known_at, steps
from penstock_testing.tree import parse
from tests.unit.planning.results import Rewrite

Draw = Callable[[Random], str]
Decisions = list[tuple[int, list[tuple[int, int, int]]]]

GROUP = DocumentKnobs(nodes_max=3, members=200, text=0.2)
"""Documents with a group of 200 siblings."""
_UNBOUNDED = Limits(steps_max=1 << 40)
"""Without a rewrite, a group may take much more work than a document should."""


def general(text: str) -> Query:
    """Return a query as an expression in normal form."""
    return normalise(as_expression(xpath(text, namespaces=NAMESPACES)))


def of_queries(rewrite: Callable[..., Any]) -> Rewrite:
    """Return a rewrite of expressions as one of queries."""

    def rewrite_query(query: Query) -> Query:
        query = as_expression(query)
        assert isinstance(query.output, Selection)
        slots = SlotTable(query.constants)
        expression = rewrite(query.output.expression, slots)
        output = replace(query.output, expression=expression)
        return replace(query, output=output, constants=tuple(slots.values))

    return rewrite_query


@contextmanager
def switched_off(*rewrites: str) -> Iterator[None]:
    """Leave expressions as they are where these rewrites would change them."""
    if not rewrites:
        yield
        return
    first, *others = rewrites
    with patch.object(circuit_forms, first, lambda part, *_: part), switched_off(*others):
        yield


def decisions(query: Query, source: bytes) -> Decisions:
    """Return the places of all events that decide something, each with its results."""
    events = trace([compile_query(query)], source, limits=_UNBOUNDED)
    return [(offset, decided) for offset, decided, _ in events if decided]


def assert_kernel_decisions_kept(rewrite: str, draw: Draw, pairs: int) -> int:
    """Check that the kernel decides the same with and without a rewrite, on groups of siblings.

    Paths are not turned meanwhile: a rewrite may make that possible, and what is late by rule
    then no longer is. Returns how many queries had a result.
    """
    results = 0
    for seed in range(pairs):
        random = Random(seed)
        text, source = draw(random), random_document(random, GROUP)
        query = general(text)
        with switched_off("turn_backward_paths"):
            after = decisions(query, source)
        with switched_off("turn_backward_paths", rewrite):
            before = decisions(query, source)
        assert after == before, (seed, text, source)
        results += bool(before)
    return results


def assert_oracle_decisions_in_time(rewrite: Rewrite, draw: Draw, pairs: int) -> int:
    """Check that a rewrite lets three-valued logic decide nothing later than before.

    Returns how many queries had a result.
    """
    results = 0
    for seed in range(pairs):
        random = Random(seed)
        query = general(draw(random))
        tree = parse(random_document(random, DocumentKnobs(nodes_max=12)))
        before, after = earliest(query, tree), earliest(rewrite(query), tree)
        assert after.keys() == before.keys(), (seed, query.text, tree.source)
        late = [node for node in before if after[node] > before[node]]
        assert not late, (seed, query.text, tree.source)
        results += bool(before)
    return results


def assert_oracle_decisions_kept(rewrite: Rewrite, draw: Draw, pairs: int) -> None:
    """Check that a rewrite lets three-valued logic decide everything at the same events.

    Fewer nodes may have to be held: that a node is out may show earlier.
    """
    for seed in range(pairs):
        random = Random(seed)
        text = draw(random)
        tree = parse(random_document(random, DocumentKnobs(nodes_max=12)))
        before = general(text)
        after = rewrite(before)
        assert isinstance(before.output, Selection)
        if isinstance(before.output.expression, Nodes):
            for new, old in zip(steps(after, tree), steps(before, tree), strict=True):
                assert new.decided == old.decided, (seed, text, tree.source)
                assert new.needed <= old.needed, (seed, text, tree.source)
        else:
            assert known_at(after, tree) == known_at(before, tree), (seed, text, tree.source)
