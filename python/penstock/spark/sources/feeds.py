"""The data source ``penstock-feeds``: items of RSS and Atom feeds as rows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.types import StructType

from penstock.results import arrow
from penstock.results.columns import Fault
from penstock.sources.feeds import FeedPoller, Poll
from penstock.spark.schema import schema_of
from penstock.spark.sources.bounds import Reached, ReadLimit, SupportsTriggerAvailableNow
from penstock.spark.sources.options import FeedOptions
from penstock.spark.sources.spool import Spool, read_poll
from penstock.spark.sources.tables import Row, batches, fault_of

COLUMNS = {"id": str, "xml": bytes, "feed": str, "guid": str, "ts": datetime, "fault": Fault}
_XML = 1


class PenstockFeeds(DataSource):
    """RSS and Atom feeds as rows, one for each new item.

    Columns: ``id`` (address, ``#`` and guid), ``xml``, ``feed`` (the address), ``guid``, ``ts``
    (the date of the item) and ``fault``. A feed that cannot be fetched or read gives one row with
    ``fault`` and without ``xml``, when it begins to fail; the others go on.

    Options: ``urls`` (a JSON list) or ``path``; ``timeoutSeconds``; ``maxFeedBytes``; for streams
    ``stateLocation``, a folder that driver and workers reach and that belongs to one stream, and
    ``pollSeconds``, the least time between two polls. In batch, all present items are read.
    """

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "penstock-feeds"

    def schema(self) -> StructType:
        """Return the columns."""
        return schema_of(COLUMNS)

    def reader(self, schema: Any) -> FeedReader:
        """Return what reads a batch."""
        return FeedReader(FeedOptions.of(self.options))

    def streamReader(self, schema: Any) -> FeedStreamReader:  # noqa: N802
        """Return what reads a stream."""
        return FeedStreamReader(FeedOptions.of(self.options))


class FeedReader(DataSourceReader):
    """Reads what the feeds hold now."""

    def __init__(self, options: FeedOptions) -> None:
        self._options = options

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the items as record batches."""
        return batches(_rows(self._options.poller().poll()), arrow.schema_of(COLUMNS), _XML)


class FeedStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Polls feeds; a poll is kept on disk before it gets an offset, so a replay gives the same."""

    def __init__(self, options: FeedOptions) -> None:
        if options.state_location is None:
            raise ValueError("a stream of feeds needs the option `stateLocation`, a folder")
        self._options = options
        self._spool = Spool(options.state_location)
        self._reached = Reached()
        self._poller: FeedPoller | None = None
        self._polled_at: float | None = None
        self._is_final = False

    def initialOffset(self) -> dict[str, int]:  # noqa: N802
        """Return the offset before the first poll that is kept."""
        return {"poll": min(self._spool.numbers(), default=1) - 1}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Poll once; later polls are left to a later run."""
        self._poll()
        self._is_final = True

    def latestOffset(  # noqa: N802
        self, start: dict[str, int] | None = None, limit: ReadLimit | None = None
    ) -> dict[str, int]:
        """Return the offset of the last poll that brought something."""
        start = self._reached.start(start, self.initialOffset())
        is_due = self._polled_at is None or (
            time.monotonic() - self._polled_at >= self._options.poll_seconds
        )
        # A poll that was kept just before a crash has no offset yet: it comes first.
        if is_due and not self._is_final and self._last() <= start["poll"]:
            self._poll()
        return self._reached.note({"poll": max(self._last(), start["poll"])})

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[InputPartition]:
        """Return the polls of a micro-batch, a task each."""
        self._reached.resume(end)
        numbers = range(start["poll"] + 1, end["poll"] + 1)
        return [InputPartition(self._spool.path(number)) for number in numbers]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yield the items of a poll as record batches."""
        return read_poll(str(partition.value))

    def commit(self, end: dict[str, int]) -> None:
        """Forget the polls that nobody will ask for again."""
        self._spool.forget_before(end["poll"])

    def _last(self) -> int:
        return max(self._spool.numbers(), default=0)

    def _poll(self) -> None:
        last = self._last()
        if self._poller is None:
            self._poller = self._options.poller(self._spool.states(last) if last else None)
        self._polled_at = time.monotonic()
        rows = list(_rows(self._poller.poll()))
        if rows:
            schema = arrow.schema_of(COLUMNS)
            self._spool.write(last + 1, batches(rows, schema, _XML), schema, self._poller.states)


def _rows(polls: list[Poll]) -> Iterator[Row]:
    for poll in polls:
        for item in poll.items:
            yield (f"{poll.url}#{item.guid}", item.xml, poll.url, item.guid, item.time, None)
        if poll.error is not None and poll.is_new_error:
            yield (poll.url, None, poll.url, None, None, fault_of(poll.error))
