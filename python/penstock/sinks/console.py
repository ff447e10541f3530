"""Rows on standard output, one JSON object per line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from penstock.errors import SinkError
from penstock.results import Result
from penstock.sinks.base import Sink

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class ConsoleSink(Sink):
    """Standard output, or another text file. A batch that is written again is printed again."""

    def __init__(self, out: IO[str] | None = None) -> None:
        self._out = out

    def write(self, rows: Iterable[Result], batch: int = 0, run: str = "default") -> int:
        """Print rows with all their columns."""
        count = 0
        for row in rows:
            self._print(row.as_json())
            count += 1
        return count

    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Print a batch with all its columns."""
        for row in rows.select(as_json(rows.columns)).toLocalIterator():
            self._print(row[0])

    def _print(self, line: str) -> None:
        # A closed pipe ends the command; everything else is a sink that failed.
        try:
            print(line, file=self._out or sys.stdout, flush=True)
        except BrokenPipeError:
            raise
        except OSError as error:
            message = f"the console cannot be written: {error.strerror or error}"
            raise SinkError("PO0001", message) from error


def as_json(columns: list[str]) -> Column:
    """Return the column that holds all these columns as one JSON object."""
    from pyspark.sql import functions

    whole = functions.struct(*(functions.col(f"`{name}`") for name in columns))
    return functions.to_json(whole, {"ignoreNullFields": "false"})
