"""Penstock as a user runs it: a registry, an engine, rows in Arrow record batches."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice
from typing import Any

from benchmarks.peers import absent

NAME = "Penstock"
TIMED = "Engine.batches(documents), all batches with every column"
KINDS = ("path", "nested", "twig", "template")
MODES = ("filter", "query")
SUBSCRIPTIONS = range(1, 1_000_001)

_START_TAG = re.compile(rb"<[A-Za-z]")


def missing() -> str | None:
    return absent("penstock.engine", "pyarrow")


class Subscribed:
    """An engine over a registry whose subscriptions are named by their numbers."""

    def __init__(self, registry: Any, mode: str) -> None:
        self._registry = registry
        self._is_query = mode == "query"
        self.forget()

    def read(self, documents: Iterable[bytes]) -> None:
        import penstock

        for _batch in self._engine.batches(map(penstock.Document, documents)):
            pass

    def answer(self, document: bytes) -> list[int] | list[tuple[int, int]]:
        import penstock

        batches = list(self._engine.batches([penstock.Document(document)]))
        names = [name for batch in batches for name in batch.column("subscription").to_pylist()]
        assert None not in names, "the document is malformed"
        numbers = [int(name[1:]) for name in names]
        if not self._is_query:
            return sorted(numbers)
        elements = [found.start() for found in _START_TAG.finditer(document)]
        starts = (start for batch in batches for start in batch.column("start").to_pylist())
        places = (bisect_left(elements, start) for start in starts)
        return sorted(zip(numbers, places, strict=True))

    def forget(self) -> None:
        import penstock

        self._engine = penstock.Engine(self._registry)


def subscribe(queries: Iterable[str], mode: str) -> Subscribed:
    import penstock

    registry = penstock.Registry()
    with registry.changes():
        for number, text in enumerate(queries):
            registry.add(f"q{number}", text, mode=mode)
    return Subscribed(registry, mode)


def load(registry: Any, path: str, count: int, mode: str) -> None:
    """Add the first subscriptions of a file of lines to a registry."""
    with open(path, encoding="utf-8") as file, registry.changes():
        for line in islice(file, count):
            fields = json.loads(line)
            registry.add(fields["name"], fields["query"], mode=mode)
