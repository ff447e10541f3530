"""Random queries in XQuery over several streams, many of them in one registry."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

import penstock
from penstock.errors import QueryError
from penstock.results import Document
from tests.differential.test_streams import case_of

SECONDS = 20
"""Documents have event times of so many different seconds."""


def random_case(seed: int, within: str | None = None) -> tuple[penstock.Query, list[Document]]:
    """Return a query over streams that no other case has, and its documents."""
    case, random = case_of(seed), Random(seed)
    text = re.sub(r"(stream|doc)\('(\w)'\)", rf"\1('{seed}\2')", case.text)
    query = penstock.xquery(text, untyped="false", within=within or case.within)
    documents = [
        replace(
            one,
            data=str(one.data).encode(),
            id=f"{seed}:{one.id}",
            stream=f"{seed}{one.stream}",
            time=float(random.randrange(SECONDS)),
        )
        for one in case.documents
    ]
    return query, documents


def random_cases(
    seed: int, count: int, within: str | None = None
) -> tuple[penstock.Registry, list[Document]]:
    """Return so many cases in one registry."""
    registry, documents = penstock.Registry(), list[Document]()
    number = seed
    while len(registry) < count:
        number += 1
        try:
            query, own = random_case(number, within)
        except QueryError:
            continue
        registry.add(f"q{number}", query)
        documents += own
    return registry, documents
