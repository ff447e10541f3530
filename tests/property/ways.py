"""All ways in: what takes documents, and what it gives in one form.

A way returns the rows of documents as sorted tuples. Ways that say less than ``run``
(``IN_BULK``) return what ``in_bulk`` makes of its rows. Documents called ``BAD`` are left out.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pyarrow as pa

import penstock
from penstock.errors import DocumentError
from penstock.limits import Limits
from penstock.results import Heartbeat
from penstock.sources import Input
from penstock.spark import worker
from penstock.spark.plans import ship

BAD = "bad"
Row = tuple[Any, ...]
_FIELDS = ("subscription", "document", "documents", "ordinal", "kind", "name", "value", "error")
_BATCH = cast("Any", SimpleNamespace(isStreaming=False))


class Place:
    """A registry, and an engine that is used again and again."""

    def __init__(self, registry: penstock.Registry, limits: Limits, **options: Any) -> None:
        self.registry = registry
        self.limits = limits
        self.engine = penstock.Engine(registry, limits, suspend_after=None, **options)


def said(rows: Iterable[Any]) -> list[Row]:
    """Return what rows say, in one form."""
    found = []
    for row in rows:
        get = row.get if isinstance(row, dict) else row.__getattribute__
        subscription, document, documents, *rest, error = (get(name) for name in _FIELDS)
        if BAD in (document, *(documents or ())):
            continue
        code = error and (error["code"] if isinstance(error, dict) else error.code)
        whole = str([*documents]) if documents else document
        found.append((subscription or "", whole, *map(str, rest), str(code)))
    return sorted(found)


def in_bulk(rows: Iterable[Row]) -> list[Row]:
    """Return what ways in bulk say of the rows that another way has."""
    values: dict[Row, list[str]] = {}
    others = []
    for subscription, document, _, kind, _, value, code in rows:
        if kind == "error" or document.startswith("["):
            others.append((subscription, document, value, code))
        else:
            found = values.setdefault((subscription, document), [])
            found += [] if kind == "match" else [value]
    return sorted([(*key, str(sorted(found))) for key, found in values.items()] + others)


def by_run(place: Place, documents: Sequence[Any]) -> list[Row]:
    return said(place.engine.run(documents))


def by_steps(place: Place, documents: Sequence[Any]) -> list[Row]:
    return said(row for rows in place.engine.steps(documents) for row in rows)


def by_batches(place: Place, documents: Sequence[Any]) -> list[Row]:
    return said(row for batch in place.engine.batches(documents) for row in batch.to_pylist())


def by_arun(place: Place, documents: Sequence[Any]) -> list[Row]:
    async def rows() -> list[Any]:
        return [row async for row in place.engine.arun(documents)]

    return said(asyncio.run(rows()))


def by_streams(place: Place, documents: Sequence[Any]) -> list[Row]:
    sources: dict[str, list[Any]] = {}
    for document in documents:
        sources.setdefault(document.stream, []).append(document)
    return said(place.engine.run(sources))


def by_matches(place: Place, documents: Sequence[Any]) -> list[Row]:
    return sorted(row for one in place.engine.matches(documents) for row in matched(one))


def matched(one: Any) -> list[Row]:
    """Return what matches in bulk say."""
    names, ids = one.subscriptions().to_pylist(), one.documents.column("document").to_pylist()
    values = one.fragments.column("value").to_pylist()
    found: dict[Row, list[str]] = {}
    for name, entry in zip(names, one.entries.to_pylist(), strict=True):
        if ids[entry["document"]] != BAD:
            listed = found.setdefault((name, ids[entry["document"]]), [])
            listed += [str(values[at]) for at in entry["fragments"] or ()]
    others = [*one.errors.to_pylist(), *one.joined.to_pylist()]
    return [*((*key, str(sorted(every))) for key, every in found.items()), *in_bulk(said(others))]


def by_push(place: Place, documents: Sequence[Any]) -> list[Row]:
    rows = []
    for one in documents:
        if isinstance(one, Heartbeat):
            rows += place.engine.heartbeat(one.stream, one.time)
        else:
            rows += place.engine.push(one)
    return said([*rows, *place.engine.close()])


def by_push_many(place: Place, documents: Sequence[Any]) -> list[Row]:
    rows = matched(place.engine.push_many(documents))
    return sorted([*rows, *in_bulk(said(place.engine.close()))])


def by_open(place: Place, documents: Sequence[Any], *, live: bool = False) -> list[Row]:
    rows: list[Any] = []
    for one in documents:
        if isinstance(one, Heartbeat):
            rows += place.engine.heartbeat(one.stream, one.time)
            continue
        is_input = isinstance(one, Input)
        name, time = (one.document, None) if is_input else (one.id, one.time)
        opened = place.engine.open(id=name, stream=one.stream, time=time, live=live)
        try:
            with opened:
                for piece in one.pieces() if is_input else pieces_of(one.data):
                    rows += opened.feed(piece)
            rows += opened.results
        except DocumentError as error:
            rows += error.results
            rows += [failure_row(str(name), error)]
    return said([*rows, *place.engine.close()])


def pieces_of(data: bytes) -> list[bytes]:
    """Return a document in three pieces."""
    third = len(data) // 3 + 1
    return [data[start : start + third] for start in range(0, len(data), third)]


def failure_row(document: str, error: DocumentError) -> dict[str, Any]:
    """Return the row that other ways in have for a document that failed."""
    empty = dict.fromkeys(_FIELDS)
    row = {"document": document, "ordinal": 0, "kind": "error", "name": ""}
    return empty | row | {"error": {"code": error.code}}


def by_live(place: Place, documents: Sequence[Any]) -> list[Row]:
    return by_open(place, documents, live=True)


def by_worker(place: Place, documents: Sequence[Any]) -> list[Row]:
    batches = worker.evaluate(job_of(place), iter([batch_of(documents)]))
    rows = (row | {"documents": None} for batch in batches for row in batch.to_pylist())
    return said(rows)


def job_of(place: Place) -> worker.Job:
    """Return what a task of Spark is told of a registry."""
    return worker.Job(ship(place.registry, _BATCH), place.limits, False)


def batch_of(documents: Sequence[Any]) -> pa.RecordBatch:
    """Return documents as Spark's worker gets them."""
    names = [one.document if isinstance(one, Input) else one.id for one in documents]
    data = [one.original() if isinstance(one, Input) else one.data for one in documents]
    arrays = [
        pa.array(data, pa.binary()),
        pa.array(names),
        pa.nulls(len(documents), pa.timestamp("us", tz="UTC")),
        pa.array([one.stream for one in documents]),
    ]
    return pa.RecordBatch.from_arrays(arrays, names=["__document", "__id", "__time", "__stream"])


Way = Callable[[Place, Sequence[Any]], list[Row]]

WAYS: dict[str, Way] = {
    "run": by_run,
    "steps": by_steps,
    "batches": by_batches,
    "arun": by_arun,
    "streams": by_streams,
    "push": by_push,
    "open": by_open,
    "live": by_live,
    "worker": by_worker,
    "matches": by_matches,
    "push_many": by_push_many,
}
IN_BULK = ("matches", "push_many")
