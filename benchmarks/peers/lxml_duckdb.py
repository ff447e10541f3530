"""Peer: both streams are read with lxml, loaded into DuckDB and joined there.

The elements are gone through in the tree that lxml builds of the whole document, which is faster
than ``iterparse``, and the columns are handed over as Arrow tables, which is faster than inserts.
"""

from __future__ import annotations

from typing import Any

from benchmarks.workloads.streams import Streams

SQL = """SELECT '<paid id="' || o.id || '"><amount>' || p.amount || '</amount><total>' || o.total
|| '</total></paid>' FROM o JOIN p ON o.id = p.key"""


def table(data: bytes, name: str, paths: dict[str, str]) -> Any:
    """Return an Arrow table with a row for each element of a name."""
    import pyarrow as pa
    from lxml import etree

    columns: dict[str, list[str | None]] = {column: [] for column in paths}
    asked = [
        (columns[column], path.removeprefix("@"), path.startswith("@"))
        for column, path in paths.items()
    ]
    for element in etree.fromstring(data).iter(name):
        for column, path, is_attribute in asked:
            column.append(element.get(path) if is_attribute else element.findtext(path))
    return pa.table(columns)


def joined(given: Streams) -> list[tuple[str]]:
    """Return the messages of all pairs."""
    import duckdb

    database = duckdb.connect()
    database.execute("SET threads = 1")
    database.register("o", table(given.orders, "order", {"id": "@id", "total": "total"}))
    database.register("p", table(given.payments, "payment", {"key": "order", "amount": "amount"}))
    found: list[tuple[str]] = database.execute(SQL).fetchall()
    return found
