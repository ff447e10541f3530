"""Join queries compiled once and loaded into native joins of any strategy."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from penstock.joins.writing import RowWriter
from penstock.kernel import Joins
from penstock.planning.templates import JoinQuery
from penstock.planning.templates.texts import JoinTexts

STRATEGIES = ("shared", "views", "mmqjp", "sequential")


class Compiled:
    """Rows of queries as the calls that load them."""

    def __init__(self, queries: Sequence[str]) -> None:
        self._calls: list[tuple[str, tuple[Any, ...]]] = []
        self._variables = 0
        writer, texts = RowWriter(self), JoinTexts()  # type: ignore[arg-type]
        start = time.process_time()
        for number, text in enumerate(queries):
            compiled = texts.compile(text)
            assert isinstance(compiled, JoinQuery)
            writer.add(number, 0, compiled)
        self.seconds = time.process_time() - start

    def variable(self, stream: str | None = None) -> int:
        self._calls.append(("variable", (stream,)))
        self._variables += 1
        return self._variables - 1

    def __getattr__(self, name: str) -> Any:
        return lambda *arguments: self._calls.append((name, arguments))

    def load(self, **options: Any) -> Joins:
        """Return joins with these rows."""
        joins = Joins(**options)
        for name, arguments in self._calls:
            getattr(joins, name)(*arguments)
        return joins


def record(joins: Joins, document: bytes, number: int, time_us: int) -> bytes:
    """Return the record of a document of the stream S."""
    joins.begin("S")
    joins.feed(document)
    return joins.finish(number, str(number), time_us, 0)


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
