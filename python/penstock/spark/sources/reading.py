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
from penstock.sources.ranges import Task, read_ranges
from penstock.sources.splitting import Record, split
from penstock.spark.sources.faults import FAULT_TYPE
from penstock.spark.sources.options import XmlOptions
from penstock.spark.sources.partitions import Failure, Unit
from penstock.spark.sources.tables import Row, fault_of, fault_type

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


def rows_of(units: tuple[Unit, ...], options: XmlOptions) -> Iterator[Row]:
    """Yield the rows of what one partition reads.

    Raises:
        DocumentError: Something cannot be read, and ``mode`` is FAILFAST.
    """
    for unit in units:
        match unit:
            case Listed() as file:
                yield from _read_file(file, options)
            case Task(file=file) as task:
                yield from _guard(_read_task(task), file, file.path, options)
            case Failure(file=file, error=error):
                yield from _fail(error, file.path, "", file.path, file.modified, options)


def _read_file(file: Listed, options: XmlOptions) -> Iterator[Row]:
    yield from _guard(_read_members(file, options), file, file.path, options)


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


def _read_task(task: Task) -> Iterator[Row]:
    modified = task.file.modified
    for record in read_ranges(task):
        yield _record_row(record, task.file.path, task.file.path, "", modified)


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


def _guard(rows: Iterator[Row], file: Listed, id: str, options: XmlOptions) -> Iterator[Row]:  # noqa: A002
    try:
        yield from rows
    except DocumentError as error:
        yield from _fail(error, id, "", file.path, file.modified, options)


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
