"""How documents are taken out of a source: one or many of each input, and what damage does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from penstock.errors import LimitError, SettingError
from penstock.limits import Limits
from penstock.results import Heartbeat
from penstock.sources.concatenated import separate, separated
from penstock.sources.damage import Mending, Stretch, mended, require_target
from penstock.sources.documents import Source, items
from penstock.sources.inputs import Input, Piece
from penstock.sources.paths import RecordPath
from penstock.sources.splitting import Record, split
from penstock.twigs import Query

Documents = Literal["one", "many"]
Damaged = Literal["stop", "reject", "skip"]

_RECORD_BYTES = 512
"""About so much more than its text a record takes."""


@dataclass(frozen=True, slots=True)
class Intake:
    """What a file, a pipe or any other input gives.

    With ``documents="many"`` it gives the documents that stand in it one after the other. With
    ``damaged="stop"`` a document that is not well-formed gives what was decided before the error,
    with ``"reject"`` nothing but the error. With ``"skip"`` it goes on at the next start tag of a
    record of the path, and what is left out gives error rows.

    Raises:
        SettingError: A value is none of these, or ``skip`` has no record path.
    """

    documents: Documents = "one"
    damaged: Damaged = "stop"
    record: RecordPath | str | None = None

    def __post_init__(self) -> None:
        if self.documents not in get_args(Documents):
            raise SettingError("PM0012", f"documents={self.documents!r}: use 'one' or 'many'")
        if self.damaged not in get_args(Damaged):
            message = f"damaged={self.damaged!r}: use 'stop', 'reject' or 'skip'"
            raise SettingError("PM0012", message)
        if self.damaged == "skip" and isinstance(self.record, RecordPath):
            require_target(self.record)

    @property
    def rejects(self) -> bool:
        """Whether a document that is not well-formed gives no row but its error."""
        return self.damaged == "reject"

    def items(self, source: Source, limits: Limits) -> Iterator[Input | Heartbeat]:
        """Return the documents and the heartbeats of a source, as they are to be read.

        Raises:
            SettingError: Damage is to be skipped, and it is not known where records begin.
            TypeError: The source, or an item of it, is nothing that a document can be read from.
        """
        found = items(source)
        if self.documents == "many":
            found = separated(found)
        if self.damaged == "skip":
            found = mended(found, self._path(), limits)
        return found

    def inputs(self, source: Source, limits: Limits, table: Query | None = None) -> Iterator[Input]:
        """Return the documents alone; the records of a table are those of its own path."""
        intake = self
        if self.damaged == "skip" and self.record is None and table is not None:
            intake = replace(self, record=record_of(table))
        return (item for item in intake.items(source, limits) if isinstance(item, Input))

    def separate(self, pieces: Iterator[Piece]) -> Iterator[tuple[int | None, Iterator[Piece]]]:
        """Yield the documents that pieces hold, with their numbers if they may be many."""
        if self.documents == "one":
            yield None, pieces
            return
        for number, data in enumerate(separate(pieces)):
            yield number, iter((data,)) if isinstance(data, bytes) else data

    def split(
        self, pieces: Iterator[Piece], limits: Limits, encoding: str | None = None
    ) -> Splitting:
        """Return what splits one document into its records.

        Raises:
            SettingError: As ``items``.
        """
        return Splitting(self._path(), pieces, limits, encoding, self.damaged)

    def _path(self) -> RecordPath:
        if self.record is None:
            message = "damaged='skip' needs a record path, as record='//item'"
            raise SettingError("PM0012", f"{message}: the document goes on at the next record")
        return RecordPath(self.record) if isinstance(self.record, str) else self.record


def record_of(table: Query) -> RecordPath | None:
    """Return the path of a table's records; None if the query has no text of a table."""
    if table.language != "table":
        return None
    return RecordPath(json.loads(table.text)["record"], table.options.get("namespaces"))


class Splitting:
    """Splits one document into records, and keeps what damage does to it."""

    def __init__(
        self,
        path: RecordPath,
        pieces: Iterator[Piece],
        limits: Limits,
        encoding: str | None,
        damaged: Damaged,
    ) -> None:
        self._path = path
        self._limits = limits
        self._rejects = damaged == "reject"
        self._mending = Mending(path, limits) if damaged == "skip" else None
        if self._mending is not None:
            pieces, encoding = self._mending.pieces(pieces, encoding), "utf-8"
        self._pieces: Iterator[Piece] = pieces
        self._encoding = encoding

    def records(self) -> Iterator[Record]:
        """Yield the records; their places are those in the document as it came.

        Raises:
            DocumentError: The document is not well-formed, after the records before the error,
                none if such a document is rejected.
            LimitError: The document passed a limit; likewise. Records that are held until its end
                may have ``memory_bytes_max``.
        """
        found = split(self._pieces, self._path, self._limits, self._encoding)
        if self._rejects:
            yield from self._held(found)
            return
        mending = self._mending
        for record in found:
            if mending is not None and mending.is_shifted:
                yield _moved(record, mending)
            else:
                yield record

    @property
    def has_stretches(self) -> bool:
        """Whether something was left out since they were taken."""
        return self._mending is not None and bool(self._mending.stretches)

    def take_stretches(self, before: int | None = None) -> list[Stretch]:
        """Return what was left out since the last call, up to a byte of the document."""
        return [] if self._mending is None else self._mending.take_stretches(before)

    def _held(self, found: Iterator[Record]) -> list[Record]:
        held: list[Record] = []
        count, most = 0, self._limits.memory_bytes_max
        for record in found:
            held.append(record)
            count += len(record.xml) + _RECORD_BYTES
            if count > most:
                reason = f"records that are held until the end have more than {most} bytes"
                about = (f"{reason} (`memory_bytes_max`)", record.end, 0, "")
                raise LimitError("PL0013", *about, limit="memory_bytes_max")
        return held


def _moved(record: Record, mending: Mending) -> Record:
    start, end = mending.original(record.start), mending.original(record.end)
    return record._replace(start=start, end=end)
