"""Bulk loading: chunks of lines from a file, compiled, with a report of the bad ones."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

from penstock.errors import RegistryError
from penstock.registry.loading.lines import FIELDS, Chunk, CompiledChunk, LineError, compile_chunk

LINES_PER_CHUNK = 2_000
ERRORS_KEPT = 1_000
"""The report keeps at most this many errors; ``on_error`` gets all of them."""

Lines = str | os.PathLike[str] | Iterable[str | bytes]


@dataclass
class LoadReport:
    """The outcome of a load."""

    lines: int = 0
    added: int = 0
    replaced: int = 0
    failed: int = 0
    errors: list[LineError] = field(default_factory=list)
    """The first errors."""
    bytes_read: int = 0
    on_error: Callable[[LineError], None] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        counts = f"{self.added} added, {self.replaced} replaced, {self.failed} failed"
        return f"<LoadReport of {self.lines} lines: {counts}>"

    def note(self, error: LineError) -> None:
        """Count and report an error."""
        self.failed += 1
        if self.on_error is not None:
            self.on_error(error)
        if len(self.errors) < ERRORS_KEPT:
            self.errors.append(error)


Watch = Callable[[LoadReport], None]


def compile_lines(
    source: Lines, report: LoadReport, workers: int | None, watch: Watch | None
) -> Iterator[CompiledChunk]:
    """Yield what the lines of a source compile to; bad lines are noted in the report.

    A single chunk is compiled in this process.

    Raises:
        OSError: The file cannot be read.
        RegistryError: The first line of a CSV file does not name columns.
    """
    # Processes are for large files, and what starts them is not loaded for nothing.
    from penstock.registry.loading.workers import compile_chunks, core_count

    with _chunks(source, report) as chunks:
        first = list(islice(chunks, 2))
        workers = core_count() if workers is None else workers
        everything = chain(first, chunks)
        compiled = (
            map(compile_chunk, everything)
            if len(first) < 2 or workers < 1
            else compile_chunks(everything, workers)
        )
        for chunk in compiled:
            for error in chunk.errors:
                report.note(error)
            yield chunk
            if watch is not None:
                watch(report)


@contextmanager
def _chunks(source: Lines, report: LoadReport) -> Iterator[Iterator[Chunk]]:
    if not isinstance(source, str | os.PathLike):
        yield _json_chunks(source, report)
        return
    if Path(source).suffix == ".csv":
        # Invalid UTF-8 becomes an error of its line.
        with open(source, newline="", encoding="utf-8-sig", errors="surrogateescape") as text:
            yield _csv_chunks(text, report)
        return
    with open(source, "rb") as file:
        yield _json_chunks(file, report)


def _json_chunks(lines: Iterable[str | bytes], report: LoadReport) -> Iterator[Chunk]:
    lines, start = iter(lines), 1
    while chunk := list(islice(lines, LINES_PER_CHUNK)):
        yield Chunk(range(start, start + len(chunk)), chunk, None)
        start += len(chunk)
        report.lines += len(chunk)
        report.bytes_read += sum(map(len, chunk))


def _csv_chunks(file: TextIO, report: LoadReport) -> Iterator[Chunk]:
    rows = csv.reader(file)
    columns = next(rows, [])
    _check_columns(columns)
    while True:
        numbers, chunk = [], []
        try:
            for row in islice(rows, LINES_PER_CHUNK):
                numbers.append(rows.line_num)
                chunk.append(row)
        except csv.Error as error:
            message = f"line {rows.line_num} and what follows is no CSV: {error}"
            raise RegistryError("PR0020", message) from None
        if not chunk:
            return
        yield Chunk(numbers, chunk, columns)
        report.lines += len(chunk)
        report.bytes_read = file.buffer.tell()


def _check_columns(columns: Sequence[str]) -> None:
    unknown = [column for column in columns if column not in FIELDS]
    if unknown or not {"name", "query"} <= set(columns) or len(set(columns)) != len(columns):
        what = f"`{unknown[0]}` is no field" if unknown else "`name` and `query` stand there once"
        message = f"the first line names the columns, and {what}; there are "
        raise RegistryError("PR0020", message + ", ".join(sorted(FIELDS)))
