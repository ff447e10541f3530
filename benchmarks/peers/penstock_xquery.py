"""Penstock with XQuery: one subscription, its rows for a file."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from benchmarks.peers import absent

NAME = "Penstock"
TIMED = "Engine.run(file), all rows"
_TEXTS = ("number", "string", "boolean", "text")


def missing() -> str | None:
    if (reason := absent("penstock.kernel", "penstock.engine")) is not None:
        return reason
    import penstock

    return None if hasattr(penstock, "xquery") else "penstock has no xquery yet"


def _engine(text: str) -> Any:
    import penstock

    registry = penstock.Registry()
    registry.add("q", penstock.xquery(text, empty="send"))
    return penstock.Engine(registry)


def prepare(text: str) -> Callable[[Path], dict[str, Any]]:
    """Return a callable that gives the seconds, and the result."""
    engine = _engine(text)

    def run(path: Path) -> dict[str, Any]:
        start, cores = time.perf_counter(), time.process_time()
        rows = list(engine.run(path))
        seconds, core_seconds = time.perf_counter() - start, time.process_time() - cores
        written = [serialised(row.kind, row.value or "") for row in rows]
        return {"seconds": seconds, "core_seconds": core_seconds, "result": "\n".join(written)}

    return run


def prepare_memory(text: str) -> Callable[[Path], dict[str, Any]]:
    """Return a callable that passes rows on and keeps none."""
    engine = _engine(text)

    def run(path: Path) -> dict[str, Any]:
        start = time.perf_counter()
        count = sum(1 for _ in engine.run(path))
        return {"seconds": time.perf_counter() - start, "rows": count}

    return run


def serialised(kind: str, value: str) -> str:
    """Return a row as XML."""
    assert kind != "error", value
    return escape(value) if kind in _TEXTS else value
