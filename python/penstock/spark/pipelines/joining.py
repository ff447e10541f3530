"""The joins of a pipeline's stream: their state beside the checkpoint, in step with it.

A stream begins to join with the first micro-batch whose subscriptions join anything. A file in the
checkpoint says which one it was: from then on the state must be there, and every micro-batch takes
it one step further, whatever becomes of the subscriptions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from penstock.errors import StateError
from penstock.registry import AnyRegistry
from penstock.registry.durable import DurableRegistry
from penstock.registry.subscriptions import Snapshot
from penstock.sinks.folders import Folders
from penstock.spark.joins.changes import Subscriptions, entries_of
from penstock.spark.joins.joining import Joining, Sample
from penstock.spark.joins.rounds import Rounds
from penstock.spark.joins.state import State
from penstock.spark.pipelines.configuration import Pipeline
from penstock.storage import disk_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BEGIN = "penstock-joins"
"""The file of a checkpoint that says with which micro-batch joins began."""


class StreamJoins:
    """The joins of one stream, micro-batch by micro-batch."""

    def __init__(self, pipeline: Pipeline, folders: Folders, stream: str) -> None:
        self._pipeline = pipeline
        self._folders = folders
        self._stream = stream
        self._begin_file = f"{pipeline.checkpoint}/{_BEGIN}"
        self._first = self._read_begin()
        self._frozen: Subscriptions | None = None
        if not isinstance(pipeline.registry, DurableRegistry):
            self._frozen = Subscriptions(pipeline.registry)

    @contextmanager
    def micro_batch(
        self, spark: SparkSession, number: int, sample: Callable[[], Sample]
    ) -> Iterator[Rounds | None]:
        """Give the rounds of a micro-batch, or None if nothing joins; as ``Joining`` does.

        Raises:
            StateError: The state is missing or damaged, or has no place.
        """
        subscriptions = self._frozen or _pinned(self._pipeline.registry, self._stream, number)
        if self._first is None:
            if not subscriptions.entries():
                yield None
                return
            self._begin(number)
        assert self._first is not None, "it has begun"
        pipeline = self._pipeline
        state = State(f"{state_folder(pipeline)}/{self._stream}")
        joining = Joining(state, pipeline.lateness, pipeline.limits, first=self._first)
        with joining.micro_batch(spark, number, subscriptions, sample) as rounds:
            yield rounds

    def _begin(self, number: int) -> None:
        state_folder(self._pipeline)
        self._folders.write(self._begin_file, json.dumps({"batch": number}).encode())
        self._first = number

    def _read_begin(self) -> int | None:
        data = self._folders.read(self._begin_file)
        if data is None:
            return None
        try:
            return int(json.loads(data)["batch"])
        except (ValueError, KeyError, TypeError):
            message = f"{self._begin_file} is damaged; restore it, or begin with a new checkpoint"
            raise StateError("PJ0002", message) from None


def state_folder(pipeline: Pipeline) -> str:
    """Return where a pipeline keeps the state of its joins.

    Raises:
        StateError: That is no folder of a disk.
    """
    path = pipeline.state or f"{pipeline.checkpoint}-joins"
    if disk_path(path) is None:
        message = f"the state of joins cannot be kept in {path}, which is no folder of a disk; "
        message += (
            "name one that driver and workers reach under the same path: state: /shared/joins"
        )
        raise StateError("PJ0008", message)
    return path


def _pinned(registry: AnyRegistry, stream: str, number: int) -> Subscriptions:
    """Return the subscriptions of the version that belongs to a micro-batch."""
    assert isinstance(registry, DurableRegistry), "others stay as they are"
    version = registry.pin(stream, number)
    snapshot = registry.snapshot()
    return _Pinned(snapshot if snapshot.version == version else registry.snapshot_at(version))


class _Pinned(Subscriptions):
    """The subscriptions of one version."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    @property
    def version(self) -> str:
        return str(self._snapshot.version)

    def entries(self) -> list[tuple[str, str]]:
        return entries_of(self._snapshot)
