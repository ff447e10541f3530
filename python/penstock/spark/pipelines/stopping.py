"""Signals that ask a pipeline to stop.

SIGTERM often comes to every process of a group, as from systemd and ``timeout``, and to some of
them twice. So Java, which would end at once, ignores it, and here it asks to stop however often it
comes. Python workers that it ends are started again by Spark.
"""

from __future__ import annotations

import signal
import threading
from types import TracebackType
from typing import TYPE_CHECKING, Any

from penstock.sinks.base import java_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stopping:
    """Turns signals into an event, for as long as it is entered, in the main thread.

    The first SIGINT or SIGTERM sets ``event``; a second SIGINT interrupts. Then it ends in a
    KeyboardInterrupt, whatever was raised or caught on the way: what cleans up calls a Java that
    may be gone before.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        self._is_interrupted = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Stopping:
        self._before = {one: signal.signal(one, self._handle) for one in _SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for one, handler in self._before.items():
            signal.signal(one, handler)
        if self._is_interrupted and not isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt from error

    def protect(self, spark: SparkSession) -> None:
        """Take back the signals that a new session took, and keep its Java alive."""
        for one in _SIGNALS:
            signal.signal(one, self._handle)
        java = java_of(spark)
        if java is not None:
            ignored = java.sun.misc.SignalHandler.SIG_IGN
            java.sun.misc.Signal.handle(java.sun.misc.Signal("TERM"), ignored)

    def _handle(self, number: int, frame: object) -> None:
        if number == signal.SIGINT and self.event.is_set():
            self._is_interrupted = True
            raise KeyboardInterrupt
        self.event.set()
