"""Peer: one SQL query for each subscription, on DuckDB, over the same leaves."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from typing import Any

_TERM = re.compile(r"x(\d+) = y(\d+)")
_BOUND = re.compile(r"\[(\w+)->([xy])(\d+)\]")


def sql_of(query: str) -> str:
    """Return the SQL of a query over flat documents: one row for each, one column for each leaf."""
    columns = {(side, number): name for name, side, number in _BOUND.findall(query)}
    terms = " AND ".join(
        f"a.{columns['x', one]} = b.{columns['y', other]}" for one, other in _TERM.findall(query)
    )
    return f"SELECT count(*) FROM docs a JOIN docs b ON {terms} AND b.t > a.t"


def connect(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Any:
    """Return a database with the leaves of documents, in order of time."""
    import duckdb
    import pandas

    database = duckdb.connect()
    database.execute("SET threads = 1")
    frame = pandas.DataFrame(rows, columns=["t", *names])
    database.register("frame", frame)
    database.execute("CREATE TABLE docs AS SELECT * FROM frame")
    return database


def count(database: Any, queries: Sequence[str]) -> tuple[float, int]:
    """Return core seconds and results of the queries, one after the other."""
    start = time.process_time()
    found = sum(database.execute(sql_of(query)).fetchone()[0] for query in queries)
    return time.process_time() - start, found


def extract(documents: Sequence[bytes], names: Sequence[str]) -> list[list[Any]]:
    """Return the leaves of documents, read with lxml."""
    from lxml import etree

    rows: list[list[Any]] = []
    for number, document in enumerate(documents):
        root = etree.fromstring(document)
        rows.append([number, *(root.findtext(name) for name in names)])
    return rows
