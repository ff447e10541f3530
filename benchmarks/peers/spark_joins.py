"""Peer: one Spark SQL query for each subscription, over leaves that lxml reads in the workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.peers.duckdb_joins import sql_of


def extract(documents: Any, names: Sequence[str]) -> Any:
    """Return a cached table ``docs`` of the leaves of documents (number, xml), one row for each."""
    wanted = list(names)

    # Inside, so that it travels by value: workers need not find this module.
    def read(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa
        from lxml import etree

        for batch in batches:
            roots = [etree.fromstring(one) for one in batch.column("xml").to_pylist()]
            leaves = [pa.array([root.findtext(name) for root in roots]) for name in wanted]
            columns = [batch.column("number"), *leaves]
            yield pa.RecordBatch.from_arrays(columns, names=["t", *wanted])

    schema = ", ".join(["t long", *(f"{name} string" for name in names)])
    found = documents.mapInArrow(read, schema).cache()
    found.count()
    found.createOrReplaceTempView("docs")
    return found


def count(spark: Any, queries: Sequence[str]) -> list[int]:
    """Return the number of results of each query, one after the other."""
    return [spark.sql(sql_of(query)).collect()[0][0] for query in queries]
