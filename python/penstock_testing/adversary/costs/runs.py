"""Runs a case and says what each subscription got, as a checksum of its rows."""

from __future__ import annotations

import time
import zlib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock.engine import Engine
from penstock.errors import DocumentError
from penstock.registry import MemoryRegistry
from penstock.results import Document, Result
from penstock_testing.adversary.costs.cases import Case, Way
from penstock_testing.adversary.report import Spent

PIECE_BYTES = 10_000

Checksums = dict[str, tuple[int, int]]
"""By subscription: how many rows it got, and their checksum."""


class Clock:
    """Measures from its making on."""

    def __init__(self) -> None:
        self._started = _now()

    def spent(self) -> Spent:
        """Return what passed since."""
        return _now() - self._started


def _now() -> Spent:
    return Spent(time.perf_counter(), time.process_time())


@dataclass(slots=True)
class Account:
    """What a run gave: rows of subscriptions, codes of errors by who failed (None: a document)."""

    checksums: Checksums = field(default_factory=lambda: defaultdict(lambda: (0, 0)))
    failed: list[tuple[str | None, str]] = field(default_factory=list)
    documents_failed: set[str] = field(default_factory=set)
    own: Spent = field(default_factory=Spent)
    """What it took to take down rows: no cost of the engine."""

    def add(self, rows: Iterable[Result]) -> None:
        """Take down rows, and keep none of them."""
        clock = Clock()
        for row in rows:
            if row.error is not None:
                self.failed.append((row.subscription, row.error.code))
                self.documents_failed.add(row.document)
                continue
            assert row.subscription is not None
            self._add(row.subscription, row.ordinal, row.kind, row.name, row.value, row.start)
        self.own += clock.spent()

    def add_columns(self, columns: dict[str, list[Any]]) -> None:
        """Take down the rows of a record batch."""
        clock = Clock()
        names = ("subscription", "error", "document", "ordinal", "kind", "name", "value", "start")
        rows = zip(*(columns[name] for name in names), strict=True)
        for name, error, document, *parts in rows:
            if error is not None:
                self.failed.append((name, error["code"]))
                self.documents_failed.add(document)
            else:
                self._add(name, *parts)
        self.own += clock.spent()

    def fail(self, error: DocumentError) -> None:
        """Take down a document that failed while it was pushed."""
        self.failed.append((None, error.code))
        self.add(error.results)

    def _add(self, name: str, *parts: object) -> None:
        count, checksum = self.checksums[name]
        self.checksums[name] = (count + 1, zlib.crc32(repr(parts).encode(), checksum))

    @property
    def names_failed(self) -> set[str]:
        """The subscriptions that failed alone."""
        return {name for name, _ in self.failed if name is not None}

    @property
    def is_whole(self) -> bool:
        """Whether no document failed for all."""
        return all(name is not None for name, _ in self.failed)


Order = Literal["decided", "document"]


def run(engine: Engine, way: Way, documents: Iterable[bytes]) -> Account:
    """Let an engine read documents in one of the ways."""
    account, read = Account(), list(documents)
    # Joins want to know what came first.
    timed = [Document(data, str(number), time=float(number)) for number, data in enumerate(read)]
    if way in ("run", "ordered", "bundle", "parts"):
        order: Order = "document" if way == "ordered" else "decided"
        for rows in engine.steps(timed, order, parts=way == "parts"):
            account.add(rows)
    elif way == "batches":
        for batch in engine.batches(timed):
            account.add_columns(batch.to_pydict())
    else:
        for document in read:
            _push(engine, way, document, account)
    return account


def _push(engine: Engine, way: Way, document: bytes, account: Account) -> None:
    is_live = way == "live"
    registry = engine.registry
    opened = engine.open(parts=way == "pushed parts", live=is_live)
    try:
        for number, start in enumerate(range(0, len(document), PIECE_BYTES)):
            if is_live and number in (2, 3) and isinstance(registry, MemoryRegistry):
                if number == 2:
                    registry.add("late", "//a[preceding::a = .]")
                else:
                    registry.remove("late")
            account.add(opened.feed(document[start : start + PIECE_BYTES]))
        account.add(opened.finish())
    except DocumentError as error:
        account.fail(error)
    finally:
        if is_live and "late" in registry and isinstance(registry, MemoryRegistry):
            registry.remove("late")
    account.checksums.pop("late", None)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a case went; ``wrong`` says what should not be.

    ``spent`` is for each document that failed, where several did: time to the error.
    """

    spent: Spent
    codes: tuple[str, ...]
    row_count: int
    wrong: str = ""
    unfair: int = 0
    """Subscriptions that failed though they do not alone."""


def try_case(case: Case, compare: bool) -> Outcome:
    """Run a case with the default limits; then a small document; then each question alone."""
    engine = Engine(case.registry())
    # A plan is frozen and adopted once, and what the way needs is imported once.
    run(engine, case.way, [case.good])
    clock = Clock()
    together = run(engine, case.way, case.documents)
    spent = (clock.spent() - together.own).shared_by(len(together.documents_failed))
    wrong = _against_fresh(engine, case)
    unfair = 0
    if compare and not wrong:
        wrong, unfair = _against_alone(together, case)
    codes = tuple(sorted({code for _, code in together.failed}))
    rows = sum(count for count, _ in together.checksums.values())
    return Outcome(spent, codes, rows, wrong, unfair)


def _against_fresh(engine: Engine, case: Case) -> str:
    """Compare what a small document gives now with what a fresh engine gives."""
    ours = run(engine, case.way, [case.good])
    fresh = run(Engine(case.registry()), case.way, [case.good])
    expected = {
        name: checksum
        for name, checksum in fresh.checksums.items()
        if name not in engine.suspended()
    }
    if ours.failed or dict(ours.checksums) != expected:
        return f"after it, a small document gives {_difference(ours, expected)}"
    return ""


def _against_alone(together: Account, case: Case) -> tuple[str, int]:
    """Compare what subscriptions that did not fail got with what they get alone."""
    if not together.is_whole:
        return "", 0
    unfair = 0
    for number in range(len(case.questions)):
        name = f"q{number}"
        way: Way = "run" if case.way == "bundle" else case.way
        alone = run(Engine(case.registry_of(number)), way, case.documents)
        if name in together.names_failed:
            unfair += not alone.failed
        elif not alone.failed and together.checksums[name] != alone.checksums[name]:
            return (
                f"{name} gets {together.checksums[name]} together, {alone.checksums[name]} alone",
                unfair,
            )
    return "", unfair


def _difference(ours: Account, expected: Checksums) -> str:
    names = sorted(ours.checksums.keys() | expected.keys())
    differing = [name for name in names if ours.checksums.get(name) != expected.get(name)]
    shown = [f"{name}: {ours.checksums.get(name)}, not {expected.get(name)}" for name in differing]
    return f"{ours.failed} {'; '.join(shown[:3])}"
