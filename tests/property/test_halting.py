"""Joins of pushed documents that are halted and continued give what one run gives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from random import Random

import pytest

import penstock
from penstock.results import Document, Result

LATENESS = 5
QUERIES = {
    "pair": penstock.xscl("S//a->x[k->y] JOIN{y = z, 8} T//a->w[k->z]"),
    "next": penstock.xscl("S//a->x[k->y] FOLLOWED BY{y = z, 12} T//b->w[k->z]"),
    "alone": penstock.xscl("S//a->x[k->y] NOT FOLLOWED BY{y = z, 10} T//b->w[k->z]"),
    "chain": penstock.xscl(
        "S//a->x[k->y] FOLLOWED BY{y = z, 6} T//b->w[k->z] FOLLOWED BY{y = v, 9} S//b->u[k->v]"
    ),
    "made": penstock.xscl(
        "SELECT <pair key='{y}'/> FROM S//a->x[k->y] FOLLOWED BY{y = z, 7} S//b->w[k->z] PUBLISH P"
    ),
    "of pairs": penstock.xscl("P//pair/@key->k NOT FOLLOWED BY{k = y, 4} T//a->x[k->y]"),
    "rows": "//a/k",
    "streams": penstock.xquery(
        "for $a in stream('S')//a, $b in stream('T')//b where $a/k = $b/k return <m>{$a/k}</m>",
        within=10,
    ),
}


def documents_of(random: Random, count: int) -> list[Document]:
    """Return documents of two streams, out of order by less and more than the lateness."""
    made = []
    for number in range(count):
        late = random.choice((0, 0, 1, 2, 4, 9))
        xml = f"<r><{random.choice('ab')}><k>{random.randrange(40)}</k></{{0}}></r>"
        name = xml[4]
        data = xml.replace("{0}", name).encode()
        if random.random() < 0.02:
            data = data[:-3]
        time = 1_000_000 + number * 0.7 - late
        made.append(Document(data, f"d{number}", random.choice("ST"), time))
    return made


def engine_of() -> penstock.Engine:
    registry = penstock.Registry()
    for name, query in QUERIES.items():
        registry.add(name, query)
    return penstock.Engine(registry, lateness=LATENESS)


def said(rows: Sequence[Result]) -> Counter[tuple[str, ...]]:
    return Counter(
        (
            str(row.subscription),
            row.document,
            str(row.documents),
            row.kind,
            str(row.value),
            str(row.error and row.error.code),
        )
        for row in rows
    )


def is_needed(document: Document, since: datetime | None) -> bool:
    return since is not None and document.event_time is not None and document.event_time >= since


def check(seed: int, count: int, halts: int) -> int:
    """Push documents through several engines, one after the other; return how many came again."""
    random = Random(seed)
    documents = documents_of(random, count)
    whole = engine_of()
    expected = said([row for one in documents for row in whole.push(one)] + whole.close())
    places = sorted({0, count, *(random.randrange(1, count) for _ in range(halts))})
    found: list[Result] = []
    engine, since, repeated = engine_of(), None, 0
    for start, end in pairwise(places):
        # What the old documents give was given before.
        for old in documents[:start]:
            if is_needed(old, since):
                engine.push(old)
                repeated += 1
        found += [row for one in documents[start:end] for row in engine.push(one)]
        if end < count:
            since = engine.needs_from()
            assert engine.halt() == since
            engine = engine_of()
    found += engine.close()
    assert said(found) == expected
    return repeated


@pytest.mark.parametrize("seed", range(3))
def test_joins_go_on_where_they_were_halted(seed: int) -> None:
    repeated = check(seed, 400, 6)
    assert 0 < repeated < 6 * 400 / 2


@pytest.mark.slow
def test_joins_of_many_documents_go_on_where_they_were_halted() -> None:
    check(17, 20_000, 200)
