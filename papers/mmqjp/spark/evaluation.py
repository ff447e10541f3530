"""The joins of a batch: stage 1 in the workers, stage 2 as SQL, round by round."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from papers.mmqjp.spark.chains import partial_side
from papers.mmqjp.spark.relations import (
    Side,
    Witnesses,
    choose_access,
    meetings,
    rows_table,
)
from papers.mmqjp.spark.results import KEY, PUBLISH, errors_sql, results_of
from papers.mmqjp.spark.rounds import Group, Plan, Round
from papers.mmqjp.spark.templates import template_sql
from papers.mmqjp.spark.witnesses import SCHEMA, Reading, read
from penstock.limits import Limits
from penstock.planning.templates import Alone, Row
from penstock.registry import AnyRegistry
from penstock.registry.requests import joins_of
from penstock.results import COLUMNS
from penstock.spark.deployment import map_batches, prepare
from penstock.spark.inputs import FAULT, INTERNAL, Inputs, inputs_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

_ROUND_SHIFT = 57
"""Documents are numbered within their round, by numbers of Spark's below this bit."""


def join_sql(
    documents: DataFrame,
    registry: AnyRegistry,
    time: str | None = None,
    stream: str | None = None,
    limits: Limits | None = None,
) -> DataFrame:
    """Return the rows of all subscriptions of a registry that join documents.

    Documents are in the column `xml`, their ids in `id`. The result is a local checkpoint: Spark
    keeps it in memory and on disk until nothing refers to it any more.

    Raises:
        RegistryError: A subscription joins bindings of several streams.
    """
    inputs = inputs_of(documents, "xml", "id", time, stream)
    prepare(documents.sparkSession)
    return _Evaluation(Plan(_joined(registry, "join_sql")), limits or Limits()).run(inputs)


def _joined(registry: AnyRegistry, call: str) -> dict[str, bytes]:
    """Return the programs of subscriptions that join documents, by name."""
    requests = joins_of(registry.snapshot(), call).items()
    return {name: requested.program for name, requested in requests}


@dataclass(frozen=True, slots=True)
class Statement:
    """The SQL that evaluates some rows of subscriptions: those of one template in one round."""

    round: int
    template: str
    subscriptions: tuple[str, ...]
    sql: str


def statements(registry: AnyRegistry) -> list[Statement]:
    """Return the SQL that ``join_sql`` runs for a registry.

    ``subscriptions`` are those whose last operator the statement evaluates; it also evaluates the
    operators before it of those that have more. The README of the folder
    above describes the relations.
    """
    plan = Plan(_joined(registry, "statements"))
    return [
        Statement(
            number,
            "a block" if group.template is None else str(group.template),
            tuple(one.name for one in plan.subscribers if one.row in group.rows),
            template_sql(group).replace("{", "").replace("}", ""),
        )
        for number, round_ in enumerate(plan.rounds)
        for group in round_
    ]


class _Evaluation:
    """One batch on its way.

    What several statements read is computed once and kept by Spark as a *local checkpoint*: plans
    begin there anew, where otherwise each round would repeat those before it for every relation
    that it reads. Spark drops it with the last plan that begins there. On Connect only frames of
    this process count as such, not what SQL made of them; so the result is one as well.
    """

    def __init__(self, plan: Plan, limits: Limits) -> None:
        self._plan = plan
        self._limits = limits

    def run(self, inputs: Inputs) -> DataFrame:
        """Return the results, and the documents that failed."""
        documents = inputs.without_others()
        self._spark = documents.sparkSession
        witnesses = self._read(documents, 0, self._reading(inputs.is_text, inputs.has_faults))
        published = self._reading(is_text=False, has_faults=False)
        rows = [self._spark.sql(errors_sql(), errors=witnesses.errors)]
        before: dict[int, Row | Alone] = {}
        known: DataFrame | None = None
        for number, round_ in enumerate(self._plan.rounds):
            is_last = number + 1 == len(self._plan.rounds)
            found = self._find(round_, witnesses, before, known)
            made = results_of(self._spark, self._plan, round_, found, witnesses, published)
            if made is not None:
                if self._plan.publishes(round_.rows) and not is_last:
                    made = made.localCheckpoint()
                    more = self._read(_published(made), number + 1, published)
                    witnesses = witnesses.and_also(more)
                rows.append(made.select(*COLUMNS))
            before |= round_.rows
            known = found if known is None else known.unionAll(found)
        return _union(rows).localCheckpoint()

    def _reading(self, is_text: bool, has_faults: bool) -> Reading:
        paths = self._plan.paths
        name = blake2b(pickle.dumps(paths), digest_size=16).hexdigest()
        return Reading(name, paths, self._limits, is_text, has_faults)

    def _read(self, documents: DataFrame, round_: int, reading: Reading) -> Witnesses:
        """Return the witnesses of documents, which are numbered here."""
        from pyspark.sql import functions as f

        time = f.coalesce(f.col(INTERNAL[2]), f.current_timestamp())
        own = [f.col(name) for name in INTERNAL]
        number = f.monotonically_increasing_id() + f.lit(round_ << _ROUND_SHIFT)
        numbered = documents.select(
            *own,
            number.alias("__number"),
            f.unix_micros(time).alias("__time_us"),
            *([f.col(FAULT)] if reading.has_faults else []),
        )

        # A closure over plain data: what runs in the workers is their own copy of the package.
        def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            return read(reading, batches)

        return Witnesses(map_batches(numbered, run, SCHEMA).localCheckpoint())

    def _find(
        self,
        round_: Round,
        witnesses: Witnesses,
        before: dict[int, Row | Alone],
        known: DataFrame | None,
    ) -> DataFrame:
        """Return what the rows of a round find: (row, parts, nodes, time)."""
        right = witnesses.side
        found: list[DataFrame] = []
        for is_chained in (False, True):
            groups = [group for group in round_ if group.is_chained == is_chained]
            left = right
            if is_chained and groups:
                assert known is not None, "a chain begins in an earlier round"
                left = partial_side(self._spark, self._plan, groups, before, known, witnesses.nodes)
            found += self._evaluate(groups, left, right, is_chained)
        return _union(found)

    def _evaluate(
        self, groups: list[Group], left: Side, right: Side, is_chained: bool
    ) -> Iterator[DataFrame]:
        """Yield what groups find whose rows bind the same sides."""
        spark = self._spark
        relations: dict[str, Any] = {
            "left_bindings": left.bindings,
            "left_edges": left.edges,
            "right_bindings": right.bindings,
            "right_edges": right.edges,
        }
        rows = {
            number: row
            for group in groups
            for number, row in group.rows.items()
            if isinstance(row, Row)
        }
        access = choose_access(spark, self._plan, rows, left, right)
        if rows:
            met = meetings(spark, rows, access, left, right, is_chained)
            relations["meetings"] = met.localCheckpoint()
        for group in groups:
            sql = template_sql(group)
            named = {name: one for name, one in relations.items() if f"{{{name}}}" in sql}
            named["rows"] = rows_table(spark, self._plan, group, access)
            yield spark.sql(sql, **named).localCheckpoint()


def _union(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of frames with the same columns, in a plan that is not deep."""
    while len(frames) > 1:
        pairs = [frames[at : at + 2] for at in range(0, len(frames), 2)]
        frames = [one[0] if len(one) == 1 else one[0].unionAll(one[1]) for one in pairs]
    return frames[0]


def _published(results: DataFrame) -> DataFrame:
    """Return the events that are published as documents."""
    from pyspark.sql import functions as f

    return results.where(f"{PUBLISH} <> ''").select(
        f.encode("value", "utf-8").alias(INTERNAL[0]),
        f.col(KEY).alias(INTERNAL[1]),
        f.col("event_time").alias(INTERNAL[2]),
        f.col(PUBLISH).alias(INTERNAL[3]),
    )
