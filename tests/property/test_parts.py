"""Parts of an element are its bytes, each once, whoever else asks for the same element."""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest

import penstock
from penstock_testing.generate import random_document
from tests.volume import short

QUERIES = (
    "//a",
    "//a[b]",
    "//a[.//b = 'x']",
    "//a[following-sibling::b]",
    "//b[not(a)]",
    "//*[last()]",
    "//a/following-sibling::*/preceding-sibling::*[last()]",
    "//b[preceding::a]",
    "//*[count(*) > 1]",
)
PIECE_BYTES = 7


def values_of(queries: tuple[str, ...], document: bytes, *, parts: bool) -> dict[str, list[str]]:
    """Return the values of the results of queries, put together from their parts."""
    registry = penstock.Registry()
    for query in queries:
        registry.add(query, query)
    opened = penstock.Engine(registry).open(parts=parts)
    rows = []
    for start in range(0, len(document), PIECE_BYTES):
        rows += opened.feed(document[start : start + PIECE_BYTES])
    rows += opened.finish()
    found: dict[tuple[str, int], str] = defaultdict(str)
    for row in rows:
        assert row.subscription is not None
        assert row.value is not None
        found[row.subscription, row.ordinal] += row.value
    return {
        query: [value for (name, _), value in sorted(found.items()) if name == query]
        for query in queries
    }


@pytest.mark.parametrize("seed", short(range(60), 15))
def test_parts_of_many_queries_are_the_whole_values_of_each(seed: int) -> None:
    random = Random(seed)
    document = random_document(random)
    queries = tuple(random.sample(QUERIES, random.randint(2, len(QUERIES))))
    together = values_of(queries, document, parts=True)
    for query in queries:
        assert together[query] == values_of((query,), document, parts=False)[query], query
