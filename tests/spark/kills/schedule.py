"""Which kills a life of a project gets: the same ones whenever it is run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice
from random import Random

from tests.spark.kills.strikes import Strike

LIFE_KILLS = 10
PIPELINE_SINKS: Sequence[tuple[str, ...]] = (
    ("parquet", "sqlite"),
    ("sqlite", "json"),
    ("parquet", "json", "sqlite"),
    ("json", "parquet"),
    ("sqlite", "parquet"),
    ("json", "sqlite", "parquet"),
)
"""The sinks of each life, in the order in which they get a batch."""

LAKE_SINKS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "delta": (("delta", "sqlite"), ("parquet", "delta")),
    "iceberg": (("iceberg", "sqlite"), ("parquet", "iceberg")),
}
"""The same for lives on the release of Spark that has a format of tables."""

_FIRST = ("offsets", "checkpoint", "offsets", "before query", "offsets", "before listing")
"""Where the first process of a life is killed, when there is no batch yet."""
_UNFINISHED: Mapping[str, list[str]] = {
    "sqlite": [],
    "delta": ["delta/part-"],
    "iceberg": ["iceberg/data/"],
    "parquet": ["unfinished"],
    "json": ["unfinished"],
}
"""What the files of a sink are called before its batch is complete."""
_STARTING = ("after session", "before query", "java")


def pipeline_strikes(life: int, sinks: Sequence[str]) -> list[Strike]:
    """Return the kills of a life: one before the first batch, then the others in some order."""
    random = Random(life)
    between = [f"after {sinks[0]}", f"before {sinks[-1]}"]
    if sinks[0] != "sqlite" and "sqlite" in sinks:
        # Rows lie in a transaction that is not committed.
        between.append("inside rows")
    task = [*_UNFINISHED[sinks[0]], "inside task"]
    is_even = life % 2 == 0
    wanted = {
        "reading": (["inside reading", "before listing", "after listing"], 2 if is_even else 1),
        "task": (task, 1 if is_even else 2),
        "between sinks": (between, 2),
        "commit": ([f"after {sinks[-1]}", "commits"], 2 if is_even else 1),
        "stop": (["last batch", "before session stop", "after session stop"], 1 if is_even else 2),
    }
    later = [Strike("start-up", _STARTING[life % len(_STARTING)])]
    for phase, (places, count) in wanted.items():
        for place in islice(cycle(places), life, life + count):
            # A batch that is only computed again may be in all sinks before it comes to a place
            # between them.
            is_new = phase in ("between sinks", "stop")
            batches = random.choice((1, 1, 2) if is_new else (0, 1, 1, 1, 1, 2))
            is_group = phase == "stop" and random.random() < 0.5
            later.append(Strike(phase, place, batches, is_group))
    random.shuffle(later)
    strikes = [Strike("start-up", _FIRST[life]), *later]
    assert len(strikes) == LIFE_KILLS
    return strikes


JOIN_STRIKES: Sequence[Sequence[Strike]] = (
    (
        Strike("start-up", "offsets"),
        Strike("task", "before record", 1),
        Strike("between sinks", "before state", 2),
        Strike("start-up", "before query"),
        Strike("commit", "commits", 1),
    ),
    (
        Strike("start-up", "checkpoint"),
        Strike("commit", "after state", 2),
        Strike("between sinks", "before state", 1),
        Strike("task", "before record", 2),
        Strike("commit", "commits"),
    ),
)
MATCH_STRIKES: Sequence[Strike] = (
    # The checkpoint is Spark's alone here, and Spark does not start after a kill at `offsets/.0`.
    Strike("start-up", "checkpoint"),
    Strike("task", "inside task", 1),
    Strike("commit", "commits", 2),
    Strike("start-up", "after session"),
    Strike("task", "inside task"),
    Strike("commit", "commits"),
)
JOINING_STRIKES: Sequence[Sequence[Strike]] = (
    (
        Strike("start-up", "offsets"),
        Strike("task", "after first state"),
        Strike("task", "after changes"),
        Strike("between sinks", "before state", 1),
        Strike("task", "after rounds", 1),
        Strike("between sinks", "after parquet", 1),
        Strike("commit", "after state", 1),
    ),
    (
        Strike("task", "before first state"),
        Strike("task", "before rounds"),
        Strike("commit", "commits", 2),
        Strike("task", "inside task", 1),
        Strike("task", "after changes", 1),
        Strike("between sinks", "before state"),
        Strike("commit", "after state"),
    ),
)
"""Kills of a pipeline with joins; its state counts as its last sink."""
