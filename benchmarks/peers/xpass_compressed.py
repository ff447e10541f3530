"""XPaSS with compressed bitmaps, the XPaSS-c of the thesis, compiled."""

from collections.abc import Iterable

from benchmarks.peers.library import CompiledPeer, missing
from benchmarks.peers.xpass_plain import KINDS, MODES, SUBSCRIPTIONS, TIMED

__all__ = ["KINDS", "MODES", "SUBSCRIPTIONS", "TIMED", "missing", "subscribe"]

NAME = "XPaSS-c"


def subscribe(queries: Iterable[str], mode: str) -> CompiledPeer:
    return CompiledPeer("xpass compressed", queries, mode)
