"""Changes while one document flows: tiers that became one answer as they would have alone."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

import penstock
from penstock.engine.push import OpenDocument
from penstock.registry.plans.live import Branch

NAMES = "abcd"
Row = tuple[object, ...]
MERGE, SHED = Branch.merge_where, Branch.shed


def drawn(random: Random) -> dict[str, Any]:
    """Return a query, some of which know more of a document than its open elements."""
    one, two, number = random.choice(NAMES), random.choice(NAMES), random.randrange(4)
    texts = (
        f"//{one}",
        f"//{one}/@x",
        f"//{one}/text()",
        f"//{one}[@x = '{number}']/{two}",
        f"//{one}[{two} > {number}]",
        f"//{one}[{two}]//*[@y]",
        f"//*[@x or @y]/{two}",
        f"/*[{one}]//{two}",
        f"//{one}[not({two})]",
        f"//{one}[contains({two}, '{number}')]",
        f"//{one}[{number + 1}]",
        f"//{one}[preceding-sibling::{two}]",
        f"//{one}[count(ancestor::*) > {number}]",
        f"boolean(//{one}[@x = '{number}'])",
    )
    if random.random() < 0.6:
        return {"query": random.choice(texts[:4])}
    if random.random() < 0.1:
        return {"query": f"count(//{one})", "mode": "running"}
    if random.random() < 0.05:
        return {"query": penstock.xquery(f"for $v in //{one} return <m>{{$v/@x}}</m>")}
    return {"query": random.choice(texts)}


def element(random: Random, depth: int = 3) -> str:
    """Return an element with others inside, texts and comments between, and attributes."""
    name = random.choice(NAMES)
    attributes = "".join(f" {n}='{random.randrange(4)}'" for n in "xy" if random.random() < 0.4)
    inner = [element(random, depth - 1) for _ in range(random.randrange(4) if depth else 0)]
    between = random.choice(("", "", " ", "<!--c-->", str(random.randrange(4))))
    content = between.join(inner) or str(random.randrange(4))
    return f"<{name}{attributes}>{content}{between}</{name}>"


class Flow:
    """A live document of a registry."""

    def __init__(self, how: str) -> None:
        self.registry = penstock.Registry()
        self.document: OpenDocument | None = None
        self.engine = penstock.Engine(self.registry)
        self.how = how

    def open(self) -> OpenDocument:
        self.document = self.engine.open(id="d", live=True)
        return self.document


def rows_of(rows: list[penstock.Result]) -> list[Row]:
    return sorted(
        (row.subscription, row.ordinal, str(row.start), str(row.value), str(row.error))
        for row in rows
    )


def merged_and_apart(seed: int, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Compare two flows of the same changes and pieces, one of which keeps all its tiers."""
    random, counts = Random(seed), Counter[str]()
    flows = {how: Flow(how) for how in ("merged", "apart")}
    names: list[str] = []
    number = 0

    def change() -> None:
        nonlocal number
        for _ in range(random.randrange(1, 4)):
            if len(names) > 3 and random.random() < 0.5:
                gone = names.pop(random.randrange(len(names)))
                for flow in flows.values():
                    flow.registry.remove(gone)
            elif names and random.random() < 0.15:
                name, what = random.choice(names), drawn(random)
                for flow in flows.values():
                    flow.registry.replace(name, **what)
            else:
                names.append(f"s{number}")
                number += 1
                what = drawn(random)
                for flow in flows.values():
                    flow.registry.add(names[-1], **what)

    def step(flow: Flow, piece: bytes | None) -> list[Row]:
        def counted(self: Branch, *arguments: object) -> bool:
            is_done = MERGE(self, *arguments)  # type: ignore[arg-type]
            counts["merges"] += is_done
            return is_done

        is_merged = flow.how == "merged"
        monkeypatch.setattr(Branch, "merge_where", counted if is_merged else lambda *_: False)
        monkeypatch.setattr(Branch, "shed", SHED if is_merged else lambda *_: None)
        document = flow.document or flow.open()
        rows = document.finish() if piece is None else document.feed(piece)
        if piece is None:
            flow.document = None
        return rows_of(rows)

    for _ in range(3):
        change()
    for _ in range(3):
        inner = "".join(element(random) for _ in range(random.randrange(1, 6)))
        data = f"<r x='1'>{inner}</r>".encode()
        position = 0
        while position < len(data):
            if random.random() < 0.4:
                change()
            end = position + random.choice((1, 7, 40, 200))
            piece, position = data[position:end], end
            found, expected = (step(flow, piece) for flow in flows.values())
            assert found == expected, (seed, position)
            counts["rows"] += len(found)
        found, expected = (step(flow, None) for flow in flows.values())
        assert found == expected, seed
        counts["rows"] += len(found)
    return counts


def check(seeds: range, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counter[str]()
    for seed in seeds:
        counts += merged_and_apart(seed, monkeypatch)
    assert counts["merges"] > len(seeds), counts
    assert counts["rows"] > 10 * len(seeds), counts


@pytest.mark.parametrize("part", range(4))
def test_what_is_merged_answers_as_if_it_were_not(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(range(15 * part, 15 * part + 15), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_what_is_merged_answers_as_if_it_were_not_at_length(
    part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    check(range(1000 + 100 * part, 1100 + 100 * part), monkeypatch)
