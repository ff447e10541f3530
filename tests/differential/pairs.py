"""Random pairs of an expression and a document, the same for the same number."""

from __future__ import annotations

import os
from collections.abc import Iterator
from random import Random

from penstock_testing.generate import (
    DocumentKnobs,
    ExpressionKnobs,
    WholeKnobs,
    random_document,
    random_expression,
    random_xpath,
)

BATCH = 250
"""Pairs of one test: enough to be quick per pair, few enough to find the one that fails."""

# libxml2 makes text nodes of empty sections, and puts comments and entities of the document type
# declaration among the nodes; XPath 1.0 knows neither.
EMPTY_SECTION = b"<![CDATA[]]>"
WITHOUT_DOCTYPE = DocumentKnobs(doctype=0)
_WHOLE = DocumentKnobs(doctype=0, identifiers=0.3, language=0.08)


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


def whole_pairs(
    first: int, expressions: WholeKnobs | None = None, count: int = BATCH
) -> Iterator[tuple[str, bytes]]:
    """Yield pairs with expressions of all of XPath 1.0, over documents that all read alike."""
    for seed in range(first, first + count):
        random = Random(seed)
        expression = random_xpath(random, expressions)
        yield expression, random_document(random, _WHOLE).replace(EMPTY_SECTION, b"")
