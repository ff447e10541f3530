"""Random pairs of an expression and a document, the same for the same number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

from penstock.testing.generate import (
    DocumentKnobs,
    ExpressionKnobs,
    random_document,
    random_expression,
)

BATCH = 250
"""Pairs of one test: enough to be quick per pair, few enough to find the one that fails."""


def batches(default: int) -> list[int]:
    """Return the first numbers of the batches; PENSTOCK_PAIRS says how many pairs in all."""
    pairs = int(os.environ.get("PENSTOCK_PAIRS", default))
    return list(range(0, pairs, BATCH))


def pairs(
    first: int,
    expressions: ExpressionKnobs | None = None,
    documents: DocumentKnobs | None = None,
    count: int = BATCH,
) -> Iterator[tuple[str, bytes]]:
    """Yield the pairs of a batch."""
    for seed in range(first, first + count):
        random = Random(seed)
        yield random_expression(random, expressions), random_document(random, documents)
