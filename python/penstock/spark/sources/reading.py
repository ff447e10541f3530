"""What a task does: files and parts of files become rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from functools import cache
from typing import Any

from penstock.errors import DocumentError, LimitError
from penstock.sources.archives import Member, members
from penstock.sources.inputs import Piece
from penstock.sources.listing import Listed
from penstock.sources.ranges import Task
from penstock.sources.splitting import Record, split
from penstock.spark.sources.columns import task_batches
from penstock.spark.sources.options import XmlOptions
from penstock.spark.sources.partitions import Failure, Unit, cut
from penstock.spark.sources.tables import FAULT_TYPE, Row, batches, fault_of, fault_type

COLUMNS = (
    "id string, xml binary, path string, member string, offset bigint, length bigint, "
    f"ancestors map<string,string>, ts timestamp, fault {FAULT_TYPE}"
)
XML = 1
"""The position of the column with documents."""


@cache
def arrow_schema() -> Any:
    """Return the columns in Arrow's types."""
    import pyarrow as pa

    return pa.schema(
        [
            ("id", pa.string()),
            ("xml", pa.binary()),
            ("path", pa.string()),
            ("member", pa.string()),
            ("offset", pa.int64()),
            ("length", pa.int64()),
            ("ancestors", pa.map_(pa.string(), pa.string())),
            ("ts", pa.timestamp("us", tz="UTC")),
            ("fault", fault_type()),
        ]
    )


def batches_of(units: tuple[Unit, ...], options: XmlOptions) -> Iterator[Any]:
    """Yield what one partition reads as record batches.

    Raises:
        RuntimeError: Something cannot be read, and ``mode`` is FAILFAST.
    """
    for unit in units:
        if isinstance(unit, Listed) and options.record_path is not None:
            for part in cut(unit, options):
                yield from _part_batches(part, options)
        else:
            yield from _part_batches(unit, options)


def _part_batches(unit: Unit, options: XmlOptions) -> Iterator[Any]:
    schema = arrow_schema()
    if not isinstance(unit, Task):
        yield from batches(rows_of(unit, options), schema, XML)
        return
    try:
        yield from task_batches(unit, schema)
    except DocumentError as error:
        file = unit.file
        rows = _fail(error, file.path, "", file.path, file.modified, options)
        yield from batches(rows, schema, XML)


def rows_of(unit: Listed | Failure, options: XmlOptions) -> Iterator[Row]:
    """Yield the rows of a whole file, or of what is wrong with one."""
    match unit:
        case Failure(file=file, error=error):
            yield from _fail(error, file.path, "", file.path, file.modified, options)
        case file:
            try:
                yield from _read_members(file, options)
            except DocumentError as error:
                yield from _fail(error, file.path, "", file.path, file.modified, options)


def _read_members(file: Listed, options: XmlOptions) -> Iterator[Row]:
    for member in members(file):
        try:
            if options.record_path is None:
                yield _read_whole(member, options)
            else:
                for record in split(member.pieces(), options.record_path, options.limits):
                    yield _record_row(record, member.id, file.path, member.member, member.modified)
        except DocumentError as error:
            yield from _fail(error, member.id, member.member, file.path, member.modified, options)


def _read_whole(member: Member, options: XmlOptions) -> Row:
    data = _join(member.pieces(), options.document_bytes_max)
    return (
        member.id,
        data,
        member.path,
        member.member,
        0,
        len(data),
        None,
        member.modified,
        None,
    )


def _join(pieces: Iterator[Piece], bytes_max: int) -> bytes:
    parts: list[Piece] = []
    count = 0
    for piece in pieces:
        count += len(piece)
        if count > bytes_max:
            reason = f"the document has more than {bytes_max} bytes; raise maxDocumentBytes"
            raise LimitError("PS0007", reason, bytes_max, 0, "", limit="document_bytes_max")
        parts.append(piece)
    return b"".join(parts)


def _record_row(record: Record, id: str, path: str, member: str, modified: datetime) -> Row:  # noqa: A002
    return (
        f"{id}#{record.number}",
        record.xml,
        path,
        member,
        record.start,
        record.end - record.start,
        list(record.ancestors.items()) or None,
        modified,
        None,
    )


def _fail(
    error: DocumentError,
    id: str,  # noqa: A002  # the word that users know
    member: str,
    path: str,
    modified: datetime,
    options: XmlOptions,
) -> Iterator[Row]:
    if options.mode == "FAILFAST":
        raise RuntimeError(f"{id}: {error}") from None
    if options.mode == "PERMISSIVE":
        yield (id, None, path, member, error.byte, None, None, modified, fault_of(error))
