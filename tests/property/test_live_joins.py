"""A document that is opened with ``live`` is joined as any other, when it ends."""

from __future__ import annotations

import random

import penstock
from penstock.results import Result

SEEDS = 150
JOINS = [
    "S//a->x FOLLOWED BY{x = y, 10} S//b->y",
    "S//a->x JOIN{x = y, 5} S//b->y",
    "S//b->x NOT FOLLOWED BY{x = y, 2} S//a->y",
    "S//c->x[.//a->y]",
    "SELECT x FROM S//a->x JOIN{x = y, 3} S//c//b->y",
]
PATHS = ["//a", "//b[. = 1]", "count(//a)"]


def run(seed: int, *, live: bool) -> list[Result]:
    """Return the joined rows of random documents, between whose pieces the registry changes."""
    draw = random.Random(seed)
    registry = penstock.Registry()
    for number in range(draw.randrange(3)):
        registry.add(f"j{number}", penstock.xscl(draw.choice(JOINS)))
    engine = penstock.Engine(registry, lateness=draw.choice([None, 0]))
    rows: list[Result] = []
    for number in range(draw.randrange(2, 7)):
        document = engine.open(f"d{number}", stream="S", time=number, live=live)
        parts = [b"<r>", *(_part(draw) for _ in range(draw.randrange(5))), b"</r>"]
        for part in parts:
            if draw.random() < 0.3:
                _change(registry, draw)
            rows += document.feed(part)
        rows += document.finish()
    rows += engine.close()
    return [row for row in rows if row.subscription is None or row.subscription[0] == "j"]


def _part(draw: random.Random) -> bytes:
    name, value = draw.choice("ab"), draw.randrange(3)
    inner = f"<{name}>{value}</{name}>"
    return (inner if draw.random() < 0.7 else f"<c>{inner}</c>").encode()


def _change(registry: penstock.Registry, draw: random.Random) -> None:
    name = draw.choice(["j0", "j1", "j2", "p0", "p1"])
    if name in registry:
        registry.remove(name)
    elif name[0] == "j":
        registry.add(name, penstock.xscl(draw.choice(JOINS)))
    else:
        registry.add(name, draw.choice(PATHS))


def test_joins_give_the_same_rows_live_and_not() -> None:
    found = 0
    for seed in range(SEEDS):
        plain = run(seed, live=False)
        assert [_told(row) for row in run(seed, live=True)] == [_told(row) for row in plain], seed
        found += len(plain)
    assert found > SEEDS


def _told(row: Result) -> tuple[object, ...]:
    return row.subscription, row.documents, row.value, row.ordinal, row.error


def test_a_join_that_comes_while_a_live_document_is_read_sees_the_next_one() -> None:
    registry = penstock.Registry()
    engine = penstock.Engine(registry)
    rows = []
    for number in range(2):
        document = engine.open(f"d{number}", stream="S", time=number, live=True)
        rows += document.feed(b"<r><a>1</a>")
        if not number:
            registry.add("bare", penstock.xscl("S//a->x"))
        rows += document.feed(b"<a>2</a></r>") + document.finish()
    assert [(row.documents, row.value) for row in rows] == [
        (("d1",), "<a>1</a>"),
        (("d1",), "<a>2</a>"),
    ]
