"""Changes while documents flow: rows are those of a fresh engine, and every row is counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock.registry import AnyRegistry
from penstock.registry.plans import live

NAMES = "abcd"
ROUNDS = 40


def drawn(random: Random) -> penstock.Query:
    """Return a query: a path, one that the broker serves, or one that it does not."""
    name, other, number = random.choice(NAMES), random.choice(NAMES), random.randrange(6)
    match random.randrange(5):
        case 0:
            return penstock.xpath(f"//{name}[{other} < {number}]")
        case 1:
            return penstock.xpath(f"//{name}[preceding::{other} = {number}]")
        case 2:
            return penstock.xquery(f"<m>{{count(//{name}[. > {number}])}}</m>")
        case 3:
            return penstock.xquery(
                f"for $x in //{name} where sum($x/{other}) > {number} return <v>{{$x/@n}}</v>",
                untyped="false",
            )
    return penstock.xquery(
        f"<m>{{for $x in //{name} where $x/{other} = {number} return $x/{other}}}</m>",
        untyped="false",
    )


def document(random: Random, depth: int = 3) -> str:
    """Return an element with others inside, and a number."""
    name, inner = random.choice(NAMES), random.randrange(4) if depth else 0
    content = "".join(document(random, depth - 1) for _ in range(inner))
    return f"<{name} n='{random.randrange(6)}'>{content or random.randrange(6)}</{name}>"


def rows_of(engine: penstock.Engine, text: str, how: str) -> Counter[tuple[str | None, str | None]]:
    if how == "fed":
        with engine.open() as opened:
            cut = len(text) // 2
            rows = [*opened.feed(text[:cut].encode()), *opened.feed(text[cut:].encode())]
            rows += opened.finish()
    else:
        rows = [*engine.run(text)]
    assert not [row for row in rows if row.error]
    return Counter((row.subscription, row.value) for row in rows)


def change(registry: AnyRegistry, random: Random, names: list[str], number: int) -> None:
    """Add, replace or remove some subscriptions."""
    for place in range(random.randrange(1, 5)):
        if len(names) > 5 and random.random() < 0.45:
            registry.remove(names.pop(random.randrange(len(names))))
        elif names and random.random() < 0.1:
            registry.replace(random.choice(names), drawn(random))
        else:
            names.append(f"s{number}-{place}")
            registry.add(names[-1], drawn(random))


@pytest.mark.parametrize("kind", ["memory", "durable"])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.filterwarnings("ignore::penstock.PenstockWarning")
def test_rows_and_counts_are_those_of_a_fresh_engine(
    seed: int, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(seed)
    # Tiers are many and merged often.
    monkeypatch.setattr(live, "SMALL_MAX", random.choice((1, 3, 64)))
    registry: AnyRegistry = penstock.Registry()
    if kind == "durable":
        registry = penstock.Registry.open(tmp_path / "registry")
    engine = penstock.Engine(registry)
    names: list[str] = []
    counts: Counter[str | None] = Counter()
    for number in range(ROUNDS):
        change(registry, random, names, number)
        text = document(random)
        how = random.choice(("whole", "whole", "fed"))
        found = rows_of(engine, text, how)
        fresh = penstock.Registry()
        for one in registry:
            fresh.add(one.name, one.query)
        assert found == rows_of(penstock.Engine(fresh), text, how), (number, text)
        for (name, _), count in found.items():
            counts[name] += count
        if random.random() < 0.2:
            engine.statistics()
    assert len(counts) > ROUNDS // 2
    counted = engine.statistics()
    assert {one.name: one.matches for one in counted.top(10_000) if one.matches} == counts
