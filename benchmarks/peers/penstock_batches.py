"""Penstock as a user runs it: rows in Arrow record batches."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "Penstock"
TIMED = "Engine.batches(bytes), all batches with every column, source text of each result"


def missing() -> str | None:
    return absent("penstock.kernel", "penstock.engine", "pyarrow")


def _engine(query: Query) -> Any:
    import penstock

    registry = penstock.Registry()
    registry.add("q", penstock.xpath(query.text))
    return penstock.Engine(registry)


def prepare(query: Query) -> Callable[[bytes], Any]:
    engine = _engine(query)
    return lambda data: list(engine.batches(data))


def prepare_file(query: Query) -> Callable[[Path], Any]:
    """Count the rows and keep none, as somebody does who passes them on."""
    engine = _engine(query)
    return lambda path: sum(batch.num_rows for batch in engine.batches(path))


def values(answer: Any) -> list[str]:
    rows = [row for batch in answer for row in batch.to_pylist()]
    assert all(row["kind"] != "error" for row in rows), rows
    rows.sort(key=lambda row: row["start"] or 0)
    return [string_value(row["kind"], row["value"]) for row in rows]


def string_value(kind: str, value: str) -> str:
    """Return the string value of a row, whose value is source text for an element."""
    if kind == "element":
        from lxml import etree

        return "".join(etree.fromstring(value).itertext())
    return f"{float(value):.15g}" if kind == "number" else value
