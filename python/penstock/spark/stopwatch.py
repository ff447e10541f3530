"""Core time of the thread that makes some items, without that of those it makes them of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import thread_time
from typing import TypeVar

T = TypeVar("T")


class Stopwatch:
    """Adds up the seconds that a generator takes, and not those of the items that it reads."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def inside(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items; the time to make them counts."""
        return self._timed(items, 1)

    def outside(self, items: Iterable[T]) -> Iterator[T]:
        """Yield items for a generator that is timed; the time to make them does not count."""
        return self._timed(items, -1)

    def _timed(self, items: Iterable[T], sign: int) -> Iterator[T]:
        iterator = iter(items)
        while True:
            started = thread_time()
            try:
                item = next(iterator)
            except StopIteration:
                return
            finally:
                self.seconds += sign * (thread_time() - started)
            yield item
