"""Stream views on Spark: a column of headers, and documents routed by it."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from penstock.errors import DocumentError
from penstock.languages.xpath.namespaces import NamespaceMap
from penstock.limits import Limits
from penstock.routing import Configuration, Router, Server, Stamper
from penstock.routing.queries import Queries, Query, queries_of
from penstock.routing.server import Verify
from penstock.sources.inputs import unreadable
from penstock.spark.bounds import checked_limits
from penstock.spark.deployment import map_batches, prepare

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

HEADER = "header"
ROUTED = ("server", "queries", "is_hit", "bytes_touched", "error")
"""The columns that ``route`` adds."""


@dataclass(frozen=True, slots=True)
class _Stamping:
    """What a task needs to know to stamp documents."""

    configuration: Configuration
    document: int
    is_text: bool
    limits: Limits


@dataclass(frozen=True, slots=True)
class _Routing:
    """What a task needs to know to route documents."""

    servers: tuple[tuple[str, tuple[Query, ...]], ...]
    configurations: tuple[Configuration, ...]
    verify: Verify
    document: int
    header: int
    is_text: bool
    limits: Limits


def stamp(
    documents: DataFrame,
    configuration: Configuration,
    document: str = "xml",
    header: str = HEADER,
    limits: Limits | None = None,
) -> DataFrame:
    """Return documents with a column of their headers, in batch or streaming.

    A document that is null, malformed or passes a limit has no header: whoever routes it parses
    it, and says what is wrong.

    Raises:
        ImportError: pyspark is not installed.
        ValueError: A column is missing, has a type that holds no documents, or is taken.
        SettingError: The limits bound seconds.
    """
    from pyspark.sql import types as t

    place, is_text = _document_column(documents, document)
    if header.lower() in [name.lower() for name in documents.columns]:
        raise ValueError(f"the documents have a column `{header}` already; name another one")
    job = _Stamping(configuration, place, is_text, checked_limits(limits))
    fields = [*documents.schema.fields, t.StructField(header, t.BinaryType())]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return stamp_batches(job, header, batches)

    prepare(documents.sparkSession)
    return map_batches(documents, run, t.StructType(fields))


def route(
    stamped: DataFrame,
    servers: Mapping[str, Server | Queries],
    configurations: Iterable[Configuration],
    document: str = "xml",
    header: str = HEADER,
    *,
    namespaces: NamespaceMap | None = None,
    verify: Verify = "ranges",
    limits: Limits | None = None,
) -> DataFrame:
    """Return a row for each document and each server that has a query which holds for it.

    The columns of the documents come along; ``server`` and ``queries`` say who and why, ``is_hit``
    whether the header decided, ``bytes_touched`` how many bytes of the document were looked at:
    none where absent views decide. A document that had to be parsed and is malformed gives one
    row with its ``error`` and no server. The queries of a registry are taken as they are now, also
    where a stream runs on.

    Raises:
        ImportError: pyspark is not installed.
        ValueError: A column is missing or has another type, or has the name of one of the rows'.
        QueryError: A query is none.
        SettingError: The limits bound seconds.
    """
    from pyspark.sql import types as t

    from penstock.spark.schema import schema

    place, is_text = _document_column(stamped, document)
    header_place = _place(stamped, header)
    if not isinstance(stamped.schema.fields[header_place].dataType, t.BinaryType):
        raise ValueError(f"headers are binary, and `{header}` is not")
    clashing = [name for name in stamped.columns if name.lower() in ROUTED]
    if clashing:
        raise ValueError(f"the rows have a column `{clashing[0]}` of their own; rename yours")
    named = tuple((name, _queries(given, namespaces)) for name, given in servers.items())
    job = _Routing(
        named, tuple(configurations), verify, place, header_place, is_text, checked_limits(limits)
    )
    added = [
        t.StructField("server", t.StringType()),
        t.StructField("queries", t.ArrayType(t.StringType())),
        t.StructField("is_hit", t.BooleanType()),
        t.StructField("bytes_touched", t.LongType()),
        t.StructField("error", schema()["error"].dataType),
    ]

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return route_batches(job, batches)

    prepare(stamped.sparkSession)
    return map_batches(stamped, run, t.StructType([*stamped.schema.fields, *added]))


def stamp_batches(
    job: _Stamping, name: str, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield batches of documents with their headers."""
    import pyarrow as pa

    stamper = _stamper(job.configuration, job.limits)
    encoding = "utf-8" if job.is_text else None
    for batch in batches:
        headers: list[bytes | None] = []
        for value in batch.column(job.document):
            try:
                whole = value.as_buffer()
                headers.append(None if whole is None else stamper.stamp(_bytes(whole), encoding))
            except DocumentError:
                headers.append(None)
        yield batch.append_column(name, pa.array(headers, pa.binary()))


def route_batches(job: _Routing, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of batches of stamped documents."""
    import pyarrow as pa

    from penstock.results.arrow import schema

    router = _router(pickle.dumps(job), job)
    encoding = "utf-8" if job.is_text else None
    error_type = schema().field("error").type
    for batch in batches:
        rows: list[int] = []
        found: list[tuple[str | None, list[str] | None, bool, int, Any]] = []
        headers = batch.column(job.header)
        for place, value in enumerate(batch.column(job.document)):
            for row in _decide(router, headers[place].as_py(), value.as_buffer(), encoding):
                rows.append(place)
                found.append(row)
        columns = list(zip(*found, strict=True)) if found else [()] * len(ROUTED)
        types = (pa.string(), pa.list_(pa.string()), pa.bool_(), pa.int64(), error_type)
        taken = batch.take(pa.array(rows, pa.int64()))
        for name, column, kind in zip(ROUTED, columns, types, strict=True):
            taken = taken.append_column(name, pa.array(column, kind))
        yield taken


def _decide(
    router: Router, header: bytes | None, document: Any, encoding: str | None
) -> Iterator[tuple[str | None, list[str] | None, bool, int, Any]]:
    try:
        if document is None:
            raise unreadable("the document is null")
        routed = router.route(header, _bytes(document), encoding)
    except DocumentError as error:
        names = ("code", "reason", "byte", "line", "path")
        yield None, None, False, 0, {name: getattr(error, name) for name in names}
        return
    queries: dict[str, list[str]] = {}
    for server, query in routed.matches:
        queries.setdefault(server, []).append(query)
    for server, names_held in queries.items():
        yield server, names_held, server not in routed.misses, routed.bytes_touched, None


@lru_cache(maxsize=4)
def _stamper(configuration: Configuration, limits: Limits) -> Stamper:
    return Stamper(configuration, limits)


_routers: dict[bytes, Router] = {}
_ROUTERS_KEPT = 4


def _router(key: bytes, job: _Routing) -> Router:
    """Return the router of a job. A worker lives longer than a task, so it is kept."""
    router = _routers.get(key)
    if router is None:
        while len(_routers) >= _ROUTERS_KEPT:
            _routers.pop(next(iter(_routers)))
        router = Router(dict(job.servers), job.configurations, verify=job.verify, limits=job.limits)
        _routers[key] = router
    return router


def _queries(given: Server | Queries, namespaces: NamespaceMap | None) -> tuple[Query, ...]:
    return given.queries if isinstance(given, Server) else queries_of(given, namespaces)


def _document_column(documents: DataFrame, name: str) -> tuple[int, bool]:
    from pyspark.sql import types as t

    place = _place(documents, name)
    kind = documents.schema.fields[place].dataType
    if not isinstance(kind, t.BinaryType | t.StringType):
        raise ValueError(f"a document is binary or a string, and `{name}` is {kind.simpleString()}")
    return place, isinstance(kind, t.StringType)


def _place(documents: DataFrame, name: str) -> int:
    if name not in documents.columns:
        have = ", ".join(f"`{one}`" for one in documents.columns)
        raise ValueError(f"there is no column `{name}`; the documents have {have}")
    return documents.columns.index(name)


def _bytes(buffer: Any) -> memoryview:
    """Return a value of Arrow as bytes, without a copy."""
    return memoryview(buffer).cast("B")
