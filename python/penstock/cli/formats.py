"""Rows in the formats that other programs read: lines of JSON, CSV, TSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from typing import IO, Any

from penstock.results import COLUMNS, Result
from penstock.results.elements import to_text

FORMATS = ("text", "jsonl", "csv", "tsv", "parquet")
ROW_FORMATS = ("jsonl", "csv", "tsv")
FORMS = ("xml", "jsonml", "plain")
"""Columns that only the command line has: the fragment that stands alone, as XML or as JSON."""
_SHEET_COLUMNS = ("document", "subscription", "ordinal", "kind", "name", "value")
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def columns_of(text: str | None, form: str, selected: Sequence[str]) -> list[str]:
    """Return the columns to write; names of selected values are columns as well.

    Raises:
        ValueError: There is no such column.
    """
    known = [*COLUMNS, *selected, *(FORMS if form != "parquet" else ())]
    if text is None:
        return [*_SHEET_COLUMNS, *selected] if form in ("csv", "tsv") else list(COLUMNS)
    columns = [name.strip() for name in text.split(",")]
    for name in columns:
        if name not in known:
            close = get_close_matches(name, known, 1)
            meant = f"did you mean `{close[0]}`?" if close else f"there are {', '.join(known)}"
            raise ValueError(f"there is no column `{name}`; {meant}")
    return columns


class JsonWriter:
    """One JSON object to a line; documents that failed are rows, too."""

    has_errors = True

    def __init__(self, out: IO[bytes], columns: Sequence[str], lists: Collection[str] = ()) -> None:
        """Write these columns; values of ``lists`` are arrays of JSON, written as such."""
        self._out = out
        self._columns = None if list(columns) == list(COLUMNS) else list(columns)
        self._lists = [place for place, name in enumerate(columns) if name in lists]

    def header(self) -> None:
        """There is none: every line says what its values are."""

    def write(self, row: Result) -> None:
        if self._columns is None:
            line = row.as_json()
        else:
            values = _values(row, self._columns)
            for place in self._lists:
                values[place] = None if values[place] is None else json.loads(values[place])
            line = to_text(dict(zip(self._columns, values, strict=True)))
        self._out.write(line.encode("utf-8", "replace") + b"\n")

    def finish(self) -> None:
        """Nothing is held back."""


class SheetWriter:
    """Lines of cells below a line with the names of the columns.

    CSV quotes what needs it. TSV has no quotes, so tabs, line ends and backslashes are written as
    ``\\t``, ``\\n``, ``\\r`` and ``\\\\``. Lists and maps are JSON. Null is an empty cell.
    """

    def __init__(self, out: IO[bytes], columns: Sequence[str], form: str) -> None:
        self._out = out
        self._columns = list(columns)
        self.has_errors = "error" in self._columns
        self._line: Callable[[list[str]], str] = csv_line if form == "csv" else tsv_line

    def header(self) -> None:
        """Write the names of the columns."""
        self._out.write(self._line(self._columns).encode())

    def write(self, row: Result) -> None:
        cells = [_cell(value) for value in _values(row, self._columns)]
        self._out.write(self._line(cells).encode("utf-8", "replace"))

    def finish(self) -> None:
        """Nothing is held back."""


class ParquetWriter:
    """Record batches in a Parquet file, with the columns that were asked for."""

    def __init__(self, out: IO[bytes], columns: Sequence[str]) -> None:
        self._out = out
        self._columns = list(columns)
        self._writer: Any = None

    def write_batch(self, batch: Any) -> None:
        """Write the rows of a batch."""
        self.write_table(table_of(batch, self._columns))

    def write_table(self, table: Any) -> None:
        """Write rows that have the columns already."""
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._out, table.schema)
        self._writer.write_table(table)

    def finish(self) -> None:
        """End the file; one without rows still has its columns."""
        from penstock.results.arrow import batch_of

        if self._writer is None:
            self.write_batch(batch_of([]))
        self._writer.close()


def table_of(batch: Any, columns: Sequence[str]) -> Any:
    """Return columns of a batch as a table; what is no column is a value beside the result."""
    import pyarrow as pa
    import pyarrow.compute as pc

    arrays = [
        batch.column(name)
        if name in COLUMNS
        else pc.map_lookup(batch.column("bindings"), pa.scalar(name), "first")
        for name in columns
    ]
    return pa.table(dict(zip(columns, arrays, strict=True)))


def _values(row: Result, columns: Sequence[str]) -> list[Any]:
    plain = row.as_dict()
    beside = row.bindings or {}
    values = []
    for name in columns:
        if name in plain:
            values.append(plain[name])
        elif name in FORMS and name not in beside:
            values.append(None if row.is_error else getattr(row, name))
        else:
            values.append(beside.get(name))
    return values


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        return to_text(value)
    return str(value)


def csv_line(cells: list[str]) -> str:
    """Return a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def tsv_line(cells: list[str]) -> str:
    """Return a line of TSV."""
    return "\t".join(cell.translate(_ESCAPES) for cell in cells) + "\n"
