"""lxml, query by query: every document is parsed once, and each compiled XPath asks its tree."""

from collections.abc import Iterable
from typing import Any

from benchmarks.peers import absent

NAME = "lxml loop"
TIMED = "fromstring(bytes), then XPath(...)(root) of every query, a list of the numbers that match"
KINDS = ("path", "nested", "twig", "template")
MODES = ("filter", "query")
SUBSCRIPTIONS = range(1, 100_001)


def missing() -> str | None:
    return absent("lxml.etree")


class Loop:
    """Compiled queries."""

    def __init__(self, queries: Iterable[str], mode: str) -> None:
        from lxml import etree

        self._parse = etree.fromstring
        self._is_query = mode == "query"
        # A boolean is a little faster than a list of nodes that is only asked for being empty.
        form = "{}" if self._is_query else "boolean({})"
        self._queries = [etree.XPath(form.format(text)) for text in queries]

    def read(self, documents: Iterable[bytes]) -> None:
        for document in documents:
            self._matches(self._parse(document))

    def answer(self, document: bytes) -> list[int] | list[tuple[int, int]]:
        root = self._parse(document)
        found = self._matches(root)
        if not self._is_query:
            return [number for number, _ in found]
        places = {element: place for place, element in enumerate(root.iter())}
        return sorted((number, places[node]) for number, nodes in found for node in nodes)

    def forget(self) -> None:
        pass

    def _matches(self, root: Any) -> list[tuple[int, Any]]:
        return [
            (number, answer)
            for number, query in enumerate(self._queries)
            if (answer := query(root))
        ]


def subscribe(queries: Iterable[str], mode: str) -> Loop:
    return Loop(queries, mode)
