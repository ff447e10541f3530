"""Penstock as a user runs it: a registry, an engine, matches in Arrow record batches."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterable
from itertools import islice
from typing import Any

from benchmarks.peers import absent

NAME = "Penstock"
TIMED = "Engine.matches(documents): numbers of subscriptions, lists of nodes, each node once"
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

        for _matches in self._engine.matches(map(penstock.Document, documents)):
            pass

    def answer(self, document: bytes) -> list[int] | list[tuple[int, int]]:
        import penstock

        (found,) = self._engine.matches([penstock.Document(document)])
        assert not len(found.errors), "the document is malformed"
        numbers = [int(name[1:]) for name in found.subscriptions().to_pylist()]
        if not self._is_query:
            return sorted(numbers)
        elements = [tag.start() for tag in _START_TAG.finditer(document)]
        places = [bisect_left(elements, at) for at in found.fragments.column("start").to_pylist()]
        lists = found.entries.column("fragments").to_pylist()
        listed = zip(numbers, lists, strict=True)
        return sorted((number, places[node]) for number, nodes in listed for node in nodes)

    def forget(self) -> None:
        import penstock

        self._engine = penstock.Engine(self._registry)


def subscribe(queries: Iterable[str], mode: str) -> Subscribed:
    import penstock

    registry = penstock.Registry()
    texts = enumerate(queries)
    lines = (json.dumps({"name": f"q{n}", "query": text, "mode": mode}) for n, text in texts)
    _refuse_errors(registry.load(lines))
    return Subscribed(registry, mode)


def load(registry: Any, path: str, count: int, mode: str) -> None:
    """Add the first subscriptions of a file of lines to a registry, all in one mode."""
    with open(path, encoding="utf-8") as file:
        end = f', "mode": "{mode}"}}'
        lines = (line.rstrip().removesuffix("}") + end for line in islice(file, count))
        _refuse_errors(registry.load(lines))


def _refuse_errors(report: Any) -> None:
    for error in report.errors:
        raise ValueError(f"{error.code}: {error}")
