"""What every sink does, and what a repeated run means to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from penstock.errors import SinkError
from penstock.results import Result

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WriteMode = Literal["upsert", "append", "overwrite", "fail"]
"""What becomes of the rows of earlier runs: those with the id of a new row are replaced, all
stay, all go, or the run does not begin if there are any."""

SINK_CODES = {
    "PO0001": "the sink cannot be written",
    "PO0002": "the sink does not take rows in this way",
    "PO0003": "the place holds something else",
    "PO0004": "the place holds rows of another run",
    "PO0005": "the sink does not work with this version of Spark",
    "PO0006": "a library that the sink needs is not in the session",
}
"""The codes of ``SinkError`` and what each names."""


class Sink(ABC):
    """A place for rows.

    ``run`` names the run of a batch pipeline, or a stream with all its restarts. ``run`` and
    ``batch`` together name a batch for good: a batch that is written again is recognised.
    """

    modes: ClassVar[tuple[WriteMode, ...]] = ("append",)
    """The modes that the sink knows; the first is the default."""
    write_mode: WriteMode = "append"
    settings: Mapping[str, str] = {}  # nobody changes it
    """Settings that a session of Spark starts with where the sink is used."""

    def begin(self, spark: SparkSession, run: str | None) -> None:  # noqa: B027  # few need it
        """Check the place before a run does any work; ``run`` is None for a new stream.

        Raises:
            SinkError: The mode is ``fail``, and there are rows of another run.
        """

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


def known_mode(sink: type[Sink], write: WriteMode | None) -> WriteMode:
    """Return a mode that the sink knows, its default for None.

    Raises:
        ValueError: It does not know the mode.
    """
    if write is None:
        return sink.modes[0]
    if write not in sink.modes:
        raise ValueError(f"{sink.__name__} writes in the modes {', '.join(sink.modes)}")
    return write


def refusal(place: str) -> SinkError:
    """Return the error of a run that must not begin."""
    message = f"{place} holds rows of another run, and `write` is `fail`; move them, or choose "
    return SinkError("PO0004", message + "`append` or `overwrite`")


def java_of(spark: SparkSession) -> Any:
    """Return the Java of a session's driver, or None: a session of Spark Connect has none."""
    try:
        return spark._jvm
    except Exception:  # every release says so in another way
        return None


def first_line(error: Exception) -> str:
    """Return the first line of an error of Java that says something."""
    lines = [line.strip(" :") for line in str(error).splitlines()]
    said = [line for line in lines if line and not line.startswith("An error occurred while")]
    return said[0] if said else type(error).__name__
