"""What every sink does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.errors import SinkError
from penstock.results import Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SINK_CODES = {
    "PO0001": "the sink cannot be written",
    "PO0002": "the sink does not take rows in-process",
    "PO0003": "the place holds something else",
}
"""The codes of ``SinkError`` and what each names."""


class Sink(ABC):
    """A place for rows. ``run`` and ``batch`` name a batch for good, so that it is told again."""

    @abstractmethod
    def write_batch(self, rows: DataFrame, batch: int, run: str = "default") -> None:
        """Write a batch of a DataFrame with the columns of ``penstock.spark.match``.

        Raises:
            SinkError: The rows cannot be written.
        """

    def write(self, rows: Iterable[Result], batch: int = 0, run: str = "default") -> int:
        """Write rows of the in-process engine and return how many they are.

        Raises:
            SinkError: The rows cannot be written, or not without Spark.
        """
        message = f"{type(self).__name__} writes through Spark; use write_batch"
        raise SinkError("PO0002", message)
