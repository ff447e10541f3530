"""The contract about threads: engines and registries are shared, iterators are not."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import penstock

THREADS = 8
ROUNDS = 30


def document(number: int) -> str:
    items = "".join(f"<x n='{place}'>{number}</x>" for place in range(number % 7 + 1))
    return f"<a><k>{number}</k>{items}</a>"


def registry_of(kind: str, folder: Path) -> Any:
    registry: Any = penstock.Registry() if kind == "memory" else penstock.Registry.open(folder)
    with registry.changes():
        for number in range(100):  # enough for documents to be asked as a whole
            registry.add(f"x{number}", f"//x[@n = '{number % 5}']")
        registry.add("k", "//k/text()")
        registry.add("last", "//x[last()]/@n")
    return registry


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    """Return what a function gives in several threads that begin together."""
    barrier = threading.Barrier(THREADS)

    def begin(number: int) -> Any:
        barrier.wait()
        return work(number)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def rows_in(engine: penstock.Engine, number: int) -> list[tuple[Any, ...]]:
    texts = [document(number * ROUNDS + place) for place in range(ROUNDS)]
    return sorted(
        (row.document, str(row.subscription), row.ordinal, row.value) for row in engine.run(texts)
    )


@pytest.mark.parametrize("kind", ["memory", "durable"])
def test_runs_of_one_engine_in_several_threads_are_those_of_one_thread(
    kind: str, tmp_path: Path
) -> None:
    engine = penstock.Engine(registry_of(kind, tmp_path / "r"))
    together = in_threads(lambda number: rows_in(engine, number))
    alone = [rows_in(engine, number) for number in range(THREADS)]
    assert together == alone
    assert all(len(rows) > ROUNDS for rows in alone)


def test_batches_and_matches_may_run_beside_each_other(tmp_path: Path) -> None:
    engine = penstock.Engine(registry_of("memory", tmp_path))

    def count(number: int) -> int:
        texts = [document(place) for place in range(ROUNDS)]
        if number % 2:
            return sum(len(batch) for batch in engine.batches(texts))
        found = engine.matches(texts)
        return sum(len(entry) for one in found for entry in one.entries.column("fragments"))

    assert len(set(in_threads(count))) == 1


@pytest.mark.parametrize("kind", ["memory", "durable"])
def test_a_registry_may_change_while_engines_run(kind: str, tmp_path: Path) -> None:
    registry = registry_of(kind, tmp_path / "r")
    engine = penstock.Engine(registry)

    def work(number: int) -> list[str | None]:
        if number % 2:
            for round_ in range(10):
                registry.add(f"new{number}.{round_}", "//k")
                registry.replace(f"new{number}.{round_}", "//x")
                registry.remove(f"new{number}.{round_}")
            return []
        texts = [document(place) for place in range(ROUNDS)]
        return [row.value for row in engine.run(texts) if row.subscription == "k"]

    found = in_threads(work)
    assert [rows for rows in found if rows] == [[str(n) for n in range(ROUNDS)]] * (THREADS // 2)
    assert len(registry) == 102


def test_documents_are_pushed_by_several_threads(tmp_path: Path) -> None:
    engine = penstock.Engine(registry_of("memory", tmp_path))

    def push(number: int) -> list[tuple[Any, ...]]:
        rows = []
        for place in range(ROUNDS):
            data = document(number * ROUNDS + place).encode()
            with engine.open(id=str(place)) as opened:
                for start in range(0, len(data), 16):
                    rows += opened.feed(data[start : start + 16])
            rows += opened.results
        return sorted((row.document, str(row.subscription), row.ordinal, row.value) for row in rows)

    assert in_threads(push) == [rows_in(engine, number) for number in range(THREADS)]


def test_an_iterator_may_move_from_thread_to_thread(tmp_path: Path) -> None:
    engine = penstock.Engine(registry_of("memory", tmp_path))
    texts = [document(place) for place in range(ROUNDS)]
    rows, found = engine.run(texts), []
    while True:
        with ThreadPoolExecutor(1) as pool:
            row = pool.submit(next, rows, None).result()
        if row is None:
            break
        found.append(row.value)
    assert found == [row.value for row in engine.run(texts)]


def test_statistics_and_cancel_are_for_any_thread(tmp_path: Path) -> None:
    engine = penstock.Engine(registry_of("memory", tmp_path))

    def work(number: int) -> None:
        if number == 0:
            for _ in range(ROUNDS):
                engine.statistics()
                engine.explain()
                repr(engine)
        else:
            rows_in(engine, number)

    in_threads(work)
    assert engine.statistics().of("k").matches == (THREADS - 1) * ROUNDS
