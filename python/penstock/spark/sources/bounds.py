"""The bounds of a micro-batch as Spark gives them to a source, and where the source has come.

A version of Spark without them asks for the latest offset and says neither where it is nor how far
to go. A source then keeps the offset that it returned last, and bounds micro-batches by itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.spark.features import Feature

if TYPE_CHECKING or Feature.READ_LIMITS.is_there:
    from pyspark.sql.streaming.datasource import (
        ReadAllAvailable,
        ReadLimit,
        ReadMaxBytes,
        ReadMaxFiles,
        SupportsTriggerAvailableNow,
    )
else:

    class ReadLimit:
        """A bound."""

    class ReadAllAvailable(ReadLimit):
        """No bound."""

    @dataclass
    class ReadMaxFiles(ReadLimit):
        """So many files."""

        max_files: int

    @dataclass
    class ReadMaxBytes(ReadLimit):
        """Files of so many bytes."""

        max_bytes: int

    class SupportsTriggerAvailableNow:
        """Nobody asks."""


__all__ = [
    "Reached",
    "ReadAllAvailable",
    "ReadLimit",
    "ReadMaxBytes",
    "ReadMaxFiles",
    "SupportsTriggerAvailableNow",
]


class Reached:
    """The last offset that a source returned, for a version of Spark that does not say it.

    Before it asks for the latest offset, such a version plans the partitions of the last
    micro-batch of its checkpoint, or of a range that begins and ends where that one ended.
    """

    def __init__(self) -> None:
        self._offset: dict[str, Any] | None = None

    def start(self, given: dict[str, Any] | None, initial: dict[str, Any]) -> dict[str, Any]:
        """Return where a micro-batch starts: where Spark says, or where the last one ended."""
        if given is not None:
            return given
        return initial if self._offset is None else self._offset

    def note(self, end: dict[str, Any]) -> dict[str, Any]:
        """Return an offset and keep it."""
        self._offset = end
        return end

    def resume(self, end: dict[str, Any]) -> None:
        """Take over where a stream was, if nothing is known yet."""
        if self._offset is None:
            self._offset = end
