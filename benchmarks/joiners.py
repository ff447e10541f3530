"""Join queries compiled once and loaded into native joins of any strategy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from penstock.kernel import Joins, Witnesses, new_joins
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

    def load(self, **options: Any) -> Joins:
        """Return joins with these rows."""
        joins = new_joins(**options)
        for number, program in enumerate(self._programs):
            joins.add(number, 0, program)
        return joins


def _rows(texts: JoinTexts, text: str) -> JoinQuery:
    compiled = texts.compile(text)
    assert isinstance(compiled, JoinQuery)
    return compiled


def record(joins: Joins, document: bytes, number: int, time_us: int) -> bytes:
    """Return the record of a document of the stream S."""
    return Witnesses("S", None, [document]).record(joins, number, str(number), time_us, 0)


class ItemRun:
    """Items read and joined; results are counted, not written. Seconds are core seconds."""

    def __init__(self, joins: Joins) -> None:
        self._joins = joins
        self.items = 0
        self.seconds = 0.0
        self.results = 0

    def read(self, documents: Sequence[bytes]) -> None:
        """Read and join further items."""
        joins, start = self._joins, time.process_time()
        for number, document in enumerate(documents, start=self.items):
            joins.push(record(joins, document, number, number * 1_000_000))
        self.seconds += time.process_time() - start
        self.items += len(documents)
        self.results += joins.take()[4]

    def measured(self) -> dict[str, float]:
        """Return what was measured."""
        return {"items": self.items, "seconds": self.seconds, "results": self.results}
