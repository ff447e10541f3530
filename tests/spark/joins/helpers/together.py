"""Many small cases in one evaluation: each has streams and names of its own.

A job of Spark takes seconds however small it is, so cases are evaluated together, by Spark and by
the engine in this process, and told apart by the names of their subscriptions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import penstock
from penstock.results import COLUMNS, Document
from penstock.twigs import Event, Query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Row = dict[str, Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SCHEMA = "id string, xml binary, stream string, ts timestamp"


@dataclass
class Together:
    """Cases in one registry, over the documents of all of them."""

    registry: penstock.Registry = field(default_factory=penstock.Registry)
    documents: list[Document] = field(default_factory=list)

    def add(self, case: str, queries: Mapping[str, str], documents: Sequence[Document]) -> None:
        """Add a case by its name."""
        for name, text in queries.items():
            self.registry.add(f"{case}: {name}", renamed(penstock.xscl(text), case))
        for one in documents:
            stream = f"{case} {one.stream}"
            self.documents.append(replace(one, id=f"{case}: {one.id}", stream=stream))

    def table(self, spark: SparkSession) -> DataFrame:
        """Return the documents as a DataFrame."""
        return spark.createDataFrame([row_of(one) for one in self.documents], SCHEMA)

    def in_process(self) -> list[Row]:
        """Return the engine's rows."""
        rows = penstock.Engine(self.registry).run(self.documents)
        return comparable([{name: getattr(row, name) for name in COLUMNS} for row in rows])


def row_of(document: Document) -> tuple[Any, ...]:
    """Return a document as a row of ``SCHEMA``."""
    assert isinstance(document.time, float)
    moment = EPOCH + timedelta(microseconds=round(document.time * 1_000_000))
    return (document.id, document.data, document.stream, moment)


def renamed(query: Query, case: str) -> Query:
    """Return a query over streams of a case's own."""
    blocks = tuple(replace(one, stream=f"{case} {one.stream}") for one in query.blocks)
    output = query.output
    if isinstance(output, Event) and output.publish is not None:
        output = replace(output, publish=f"{case} {output.publish}")
    return replace(query, blocks=blocks, output=output, text="")


def collected(rows: DataFrame) -> list[Row]:
    """Return the rows of a DataFrame, in the order of ``comparable``."""
    found = []
    for row in rows.select(*COLUMNS).collect():
        made = row.asDict(recursive=True)
        made["event_time"] = made["event_time"] and made["event_time"].astimezone(UTC)
        made["documents"] = made["documents"] and tuple(made["documents"])
        made["source"] = made["source"] and bytes(made["source"])
        found.append(made)
    return comparable(found)


def comparable(rows: list[Row]) -> list[Row]:
    """Return rows in an order of their own, with what errors say by name."""
    for row in rows:
        if row["error"] is not None and not isinstance(row["error"], dict):
            names = ("code", "reason", "byte", "line", "path")
            row["error"] = {name: getattr(row["error"], name) for name in names}
    names = ("subscription", "document", "ordinal", "value")
    return sorted(rows, key=lambda row: [str(row[name]) for name in names])
