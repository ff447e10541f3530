"""Which task reads what: small files packed together, large ones cut between records."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from penstock.errors import DocumentError
from penstock.sources.listing import Listed
from penstock.sources.ranges import Task, find_ranges
from penstock.sources.stores import Opener
from penstock.spark.sources.options import XmlOptions

_OPEN_BYTES = 64 << 10
"""Opening a file costs about as much as reading this."""
_PARTITION_BYTES_MIN = 1 << 20


@dataclass(frozen=True, slots=True)
class Failure:
    """A file whose records were found up to an error."""

    file: Listed
    error: DocumentError


Unit = Listed | Task | Failure
"""A whole file, a part of one, or why there are no further parts."""


def plan_units(files: Sequence[Listed], options: XmlOptions) -> list[tuple[Unit, ...]]:
    """Return what each partition reads.

    A file larger than ``maxPartitionBytes`` with a record path is read once here, to find its
    records; one that cannot be cut goes to one task as a whole.
    """
    total = sum(file.size + _OPEN_BYTES for file in files)
    share = max(_PARTITION_BYTES_MIN, total // (2 * (os.cpu_count() or 1)))
    target = min(options.partition_bytes_max, share)
    packed: list[tuple[Unit, ...]] = []
    small: list[Listed] = []
    for file in files:
        if options.record_path is not None and file.size > options.partition_bytes_max:
            parts = list(cut(file, options))
            packed += [(part,) for part in parts]
        else:
            small.append(file)
    return [*packed, *_pack(small, target)]


def cut(file: Listed, options: XmlOptions, opener: Opener | None = None) -> Iterator[Unit]:
    """Yield the parts of a file between records, and why it ends early if it does."""
    assert options.record_path is not None
    if options.intake.documents == "many":
        yield file  # only who has read one document knows where the next one begins
        return
    try:
        found = find_ranges(
            file,
            options.record_path,
            options.partition_bytes_max,
            options.limits,
            opener or options.stores,
        )
    except DocumentError as error:
        yield Failure(file, error)
        return
    if found is None or (found.failure is not None and options.intake.damaged == "skip"):
        yield file
        return
    if found.failure is not None and options.intake.rejects:
        yield Failure(file, found.failure)
        return
    yield from found.tasks
    if found.failure is not None:
        yield Failure(file, found.failure)


def _pack(files: Iterable[Listed], target: int) -> list[tuple[Unit, ...]]:
    packed: list[tuple[Unit, ...]] = []
    waiting: list[Unit] = []
    waiting_bytes = 0
    for file in files:
        cost = file.size + _OPEN_BYTES
        if waiting and waiting_bytes + cost > target:
            packed.append(tuple(waiting))
            waiting, waiting_bytes = [], 0
        waiting.append(file)
        waiting_bytes += cost
    if waiting:
        packed.append(tuple(waiting))
    return packed
