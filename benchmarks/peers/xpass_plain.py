"""XPaSS: segments, bitmaps and memoisation as in the thesis, compiled."""

from collections.abc import Iterable

from benchmarks.peers.library import CompiledPeer, missing

__all__ = ["missing", "subscribe"]

NAME = "XPaSS"
TIMED = "bytes to numbers of queries and elements in memory, a call for each document"
KINDS = ("path", "nested")
MODES = ("query",)
SUBSCRIPTIONS = range(1, 100_001)


def subscribe(queries: Iterable[str], mode: str) -> CompiledPeer:
    return CompiledPeer("xpass", queries, mode)
