"""Penstock with XQuery: one subscription, its rows for a file."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.peers import absent

NAME = "Penstock"
TIMED = "Engine.run(file), all rows"
_ATOMIC = ("number", "string", "boolean")


def missing() -> str | None:
    if (reason := absent("penstock.kernel", "penstock.engine")) is not None:
        return reason
    import penstock

    return None if hasattr(penstock, "xquery") else "penstock has no xquery yet"


def prepare(text: str) -> Callable[[Path], dict[str, Any]]:
    """Return a callable that gives the seconds, and the result."""
    import penstock

    registry = penstock.Registry()
    registry.add("q", penstock.xquery(text, empty="send"))
    engine = penstock.Engine(registry)

    def run(path: Path) -> dict[str, Any]:
        start, cores = time.perf_counter(), time.process_time()
        rows = list(engine.run(path))
        seconds, core_seconds = time.perf_counter() - start, time.process_time() - cores
        return {
            "seconds": seconds,
            "core_seconds": core_seconds,
            "result": serialised([(row.kind, row.value or "") for row in rows]),
        }

    return run


def serialised(rows: list[tuple[str, str]]) -> str:
    """Return rows as one text: a space between atomic values, nodes as they are."""
    written: list[str] = []
    is_after_atomic = False
    for kind, value in rows:
        assert kind != "error", value
        is_atomic = kind in _ATOMIC
        if is_atomic and is_after_atomic:
            written.append(" ")
        written.append(escape(value) if is_atomic or kind == "text" else value)
        is_after_atomic = is_atomic
    return "".join(written)
