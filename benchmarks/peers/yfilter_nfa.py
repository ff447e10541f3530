"""YFilter: one automaton for all paths, run as it is published, compiled.

Every state has a hash table of its own; sets of active states are kept on a stack. In filter mode
it lists a query once for each document (YFilter-F), in query mode for each element (YFilter-Q).
"""

from collections.abc import Iterable

from benchmarks.peers.library import CompiledPeer, missing

__all__ = ["missing", "subscribe"]

NAME = "YFilter"
TIMED = "bytes to numbers of queries in memory, a call for each document"
KINDS = ("path",)
MODES = ("filter", "query")
SUBSCRIPTIONS = range(1, 1_000_001)


def subscribe(queries: Iterable[str], mode: str) -> CompiledPeer:
    return CompiledPeer("yfilter", queries, mode)
