"""Signals that ask a pipeline to stop."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopping_on_signals() -> Iterator[threading.Event]:
    """Give an event that the first SIGINT or SIGTERM sets; a second one interrupts."""
    stopping = threading.Event()

    def handle(number: int, frame: object) -> None:
        if stopping.is_set():
            raise KeyboardInterrupt
        stopping.set()

    before = {one: signal.signal(one, handle) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopping
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
