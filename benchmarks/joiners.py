"""Join queries compiled once and loaded into native joins: the product's, or a paper's."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from papers.mmqjp.joining import StrategyJoins
from penstock.joins import WitnessReader
from penstock.kernel import JoinState
from penstock.planning.records import write_records
from penstock.planning.templates import JoinQuery
from penstock.planning.templates.texts import JoinTexts

STRATEGIES = ("shared", "views", "mmqjp", "sequential")


class Compiled:
    """Programs of queries, each compiled once."""

    def __init__(self, queries: Sequence[str]) -> None:
        texts = JoinTexts()
        start = time.process_time()
        self._programs = [write_records(_rows(texts, text)) for text in queries]
        self.seconds = time.process_time() - start

    def load(self, strategy: str = STRATEGIES[0], **options: Any) -> Loaded:
        """Return joins with these rows; ``shared`` is the product's way to find them."""
        joins: Any = JoinState(**options)
        if strategy != STRATEGIES[0]:
            joins = StrategyJoins(strategy=strategy, **options)
        for number, program in enumerate(self._programs):
            joins.add(number, 0, program)
        return Loaded(joins)


def _rows(texts: JoinTexts, text: str) -> JoinQuery:
    compiled = texts.compile(text)
    assert isinstance(compiled, JoinQuery)
    return compiled


class Loaded:
    """Joins, and what reads documents for them."""

    def __init__(self, joins: JoinState) -> None:
        self.joins = joins
        self._reader = WitnessReader(joins)

    def record(self, document: bytes, number: int, time_us: int) -> bytes:
        """Return the record of a document of the stream S."""
        witness = self._reader.read("S", [document])
        return self.joins.record(witness, number, str(number), time_us, 0)


class ItemRun:
    """Items read and joined; results are counted, not written. Seconds are core seconds."""

    def __init__(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self.items = 0
        self.seconds = 0.0
        self.results = 0

    def read(self, documents: Sequence[bytes]) -> None:
        """Read and join further items."""
        loaded, joins, start = self._loaded, self._loaded.joins, time.process_time()
        for number, document in enumerate(documents, start=self.items):
            joins.push(loaded.record(document, number, number * 1_000_000))
        self.seconds += time.process_time() - start
        self.items += len(documents)
        self.results += joins.take()[4]

    def measured(self) -> dict[str, float]:
        """Return what was measured."""
        return {"items": self.items, "seconds": self.seconds, "results": self.results}
