"""The published algorithms for many paths, in process: the extension beside `papers`."""

from collections.abc import Iterable

from papers.native import load, missing

__all__ = ["CompiledPeer", "missing"]


class CompiledPeer:
    """Queries compiled by one of the algorithms."""

    def __init__(self, kind: str, queries: Iterable[str], mode: str) -> None:
        self._is_query = mode == "query"
        self._native = load().PathMatcher(kind, self._is_query, "\n".join(queries))

    def read(self, documents: Iterable[bytes]) -> None:
        """Evaluate documents; the numbers of what matches lie in memory after each of them."""
        for document in documents:
            self._native.read(document)

    def answer(self, document: bytes) -> list[int] | list[tuple[int, int]]:
        """Return what matches, sorted: queries, in query mode with the numbers of elements."""
        self._native.read(document)
        numbers = self._native.found()
        if not self._is_query:
            return sorted(numbers)
        return sorted(zip(numbers[1::2], numbers[::2], strict=True))

    def forget(self) -> None:
        """Forget what was learnt from documents."""
        self._native.forget()
