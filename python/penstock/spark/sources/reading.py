"""What a task does: files and parts of files become rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.errors import DocumentError, LimitError
from penstock.results import arrow
from penstock.sources.archives import Member, members
from penstock.sources.inputs import Piece
from penstock.sources.intake import Splitting
from penstock.sources.listing import Listed
from penstock.sources.ranges import Task
from penstock.sources.stores import Opener
from penstock.sources.stores.ahead import ReadAhead
from penstock.spark.sources.columns import task_batches
from penstock.spark.sources.options import XML_COLUMNS, XmlOptions
from penstock.spark.sources.partitions import Failure, Unit, cut
from penstock.spark.sources.tables import Row, batches, fault_of

XML = 1
"""The position of the documents in a row."""


def batches_of(units: tuple[Unit, ...], options: XmlOptions) -> Iterator[Any]:
    """Yield what one partition reads as record batches of the columns that are asked for.

    Raises:
        RuntimeError: Something cannot be read, and ``mode`` is FAILFAST.
    """
    with ReadAhead(options.stores, (unit for unit in units if isinstance(unit, Listed))) as opener:
        for unit in units:
            if isinstance(unit, Listed) and options.record_path is not None:
                for part in cut(unit, options, opener):
                    yield from _part_batches(part, options, opener)
            else:
                yield from _part_batches(unit, options, opener)


def _part_batches(unit: Unit, options: XmlOptions, opener: Opener) -> Iterator[Any]:
    schema = arrow.schema_of({name: XML_COLUMNS[name] for name in options.columns})
    places = [list(XML_COLUMNS).index(name) for name in options.columns]
    if not isinstance(unit, Task):
        yield from batches(rows_of(unit, options, opener), schema, XML, places)
        return
    try:
        yield from task_batches(unit, schema, opener)
    except DocumentError as error:
        yield from batches(_fail(error, _whole(unit.file), options), schema, XML, places)


def rows_of(unit: Listed | Failure, options: XmlOptions, opener: Opener) -> Iterator[Row]:
    """Yield the rows of a whole file, or of what is wrong with one."""
    if isinstance(unit, Failure):
        yield from _fail(unit.error, _whole(unit.file), options)
        return
    try:
        for member in members(unit, opener):
            try:
                for number, pieces in options.intake.separate(member.pieces()):
                    yield from _of_document(member, number, pieces, options)
            except DocumentError as error:
                yield from _fail(error, member, options)
    except DocumentError as error:
        yield from _fail(error, _whole(unit), options)


def _of_document(
    member: Member, number: int | None, pieces: Iterator[Piece], options: XmlOptions
) -> Iterator[Row]:
    name = "" if number is None else f"#{number}"
    try:
        yield from _read(member, name, pieces, options)
    except DocumentError as error:
        yield from _fail(error, member, options, name)


def _read(member: Member, name: str, pieces: Iterator[Piece], options: XmlOptions) -> Iterator[Row]:
    if options.record_path is None:
        data = _join(pieces, options.document_bytes_max)
        yield _row(member, data, 0, len(data), name=name)
        return
    splitting = options.intake.split(pieces, options.limits)
    for record in splitting.records():
        if splitting.has_stretches:
            yield from _left_out(splitting, member, name, options, record.start)
        ancestors = list(record.ancestors.items()) or None
        place = (record.start, record.end - record.start)
        own = f"{name}#{record.number}"
        yield _row(member, record.xml, *place, name=own, ancestors=ancestors)
    yield from _left_out(splitting, member, name, options)


def _left_out(
    splitting: Splitting,
    member: Member,
    name: str,
    options: XmlOptions,
    before: int | None = None,
) -> Iterator[Row]:
    for stretch in splitting.take_stretches(before):
        place = (stretch.start, stretch.end - stretch.start)
        own = f"{name}@{stretch.start}-{stretch.end}"
        yield from _fail(stretch.error, member, options, own, place)


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


def _fail(
    error: DocumentError,
    member: Member,
    options: XmlOptions,
    name: str = "",
    place: tuple[int, int] | None = None,
) -> Iterator[Row]:
    if options.mode == "FAILFAST":
        raise RuntimeError(f"{member.id}{name}: {error}") from None
    if options.mode == "PERMISSIVE":
        yield _row(member, None, *(place or (error.byte, None)), name=name, fault=fault_of(error))


def _whole(file: Listed) -> Member:
    """Return a file of which nothing is read as its own only member."""
    return Member(file.path, "", file.modified, lambda: iter(()))


def _row(
    member: Member,
    xml: bytes | None,
    offset: int,
    length: int | None,
    *,
    name: str = "",
    ancestors: Any = None,
    fault: Any = None,
) -> Row:
    id_, modified = f"{member.id}{name}", member.modified
    return (id_, xml, member.path, member.member, offset, length, ancestors, modified, fault)
