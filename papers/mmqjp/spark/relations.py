"""The relations of stage 2 as DataFrames: witnesses (RL and RR), rows (RT), and who meets whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from papers.mmqjp.spark.paths import Pair
from papers.mmqjp.spark.rounds import Group, Plan, Shape
from papers.mmqjp.spark.templates import SIDES
from papers.mmqjp.spark.witnesses import BINDING, DOCUMENT, EDGE, ERROR, NODE
from penstock.planning.templates import LEFT, RIGHT, TOP, Alone, Row, WitnessTree
from penstock.spark.arrow import frame_of
from penstock.twigs import JoinKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOREVER_US = (1 << 62) - 1
_TIMES = ("low", "high")


@dataclass(frozen=True, slots=True)
class Side:
    """What one side of a row can bind: documents or partial matches.

    ``bindings`` are (document, time, variable, node, value), ``edges`` (document, time, edge,
    above, node, value); the value of an edge is that of its lower node.
    """

    bindings: DataFrame
    edges: DataFrame


@dataclass(frozen=True, slots=True)
class Witnesses:
    """The relations that stage 1 delivers, each a part of what the workers wrote."""

    written: DataFrame

    @property
    def side(self) -> Side:
        """Documents, as the left or the right side of a row."""
        common = ("document", "time", "node", "value")
        return Side(
            self._kind(BINDING).select(*common, "variable"),
            self._kind(EDGE).select(*common, "edge", "above"),
        )

    @property
    def nodes(self) -> DataFrame:
        """The nodes of documents: ranges, texts and values."""
        return self._kind(NODE).select("document", "node", "start", "end", "text", "value")

    @property
    def documents(self) -> DataFrame:
        """Documents by number, with id and event time."""
        return self._kind(DOCUMENT).select("document", "time", "id")

    @property
    def errors(self) -> DataFrame:
        """Documents that failed."""
        return self._kind(ERROR).select("id", "stream", "event_time", "error", "source")

    def and_also(self, other: Witnesses) -> Witnesses:
        """Return these witnesses and others."""
        return Witnesses(self.written.unionByName(other.written))

    def _kind(self, kind: str) -> DataFrame:
        return self.written.where(f"kind = '{kind}'")


def distances(row: Row) -> tuple[int, int]:
    """Return the least and the largest distance in time, right minus left, that a row admits."""
    assert row.kind is not JoinKind.MEET, "operators of XSCL know time"
    window = FOREVER_US if row.window_us is None else min(row.window_us, FOREVER_US)
    return (-window if row.kind is JoinKind.JOIN else 1, window)


def rows_table(
    spark: SparkSession, plan: Plan, group: Group, access: Mapping[int, Pair]
) -> DataFrame:
    """Return RT for the rows of a group, each with the value join that drives it.

    All places of a tree have their variables, and all but the top their edges.
    """
    made = []
    for number, row in group.rows.items():
        columns: dict[str, int] = {"row": number, "shape": group.shapes[Shape.of(row)]}
        if isinstance(row, Alone):
            columns |= _places(plan, SIDES[LEFT], row.tree)
        else:
            columns["low"], columns["high"] = distances(row)
            columns["left_access"], columns["right_access"] = access[number]
            for side, tree in zip(SIDES, (row.left, row.right), strict=True):
                columns |= _places(plan, side, tree)
        made.append(columns)
    return table(spark, made)


def _places(plan: Plan, side: str, tree: WitnessTree) -> dict[str, int]:
    columns = {
        f"{side}_variable_{place}": plan.number(variable)
        for place, variable in enumerate(tree.variables)
    }
    below = [place for place, parent in enumerate(tree.parents) if parent != TOP]
    for place, edge in zip(below, tree.edges, strict=True):
        columns[f"{side}_edge_{place}"] = plan.edge_number(edge)
    return columns


def table(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    """Return a small relation; what a row lacks is null. Numbers are short but for times."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: pa.array([row.get(name) for row in rows]) for name in names}
    for name, column in columns.items():
        if pa.types.is_integer(column.type) and name not in _TIMES:
            columns[name] = column.cast(pa.int32())
    return frame_of(spark, pa.table(columns))


WEIGHTS_SQL = """\
SELECT asked.left_variable, asked.right_variable, sum(one.count * other.count) AS weight
FROM {asked} AS asked
JOIN (
  SELECT variable, value, CAST(count(*) AS DOUBLE) AS count
  FROM {left_bindings} GROUP BY variable, value
) AS one ON one.variable = asked.left_variable
JOIN (
  SELECT variable, value, CAST(count(*) AS DOUBLE) AS count
  FROM {right_bindings} GROUP BY variable, value
) AS other ON other.variable = asked.right_variable AND other.value = one.value
GROUP BY asked.left_variable, asked.right_variable"""
"""How many witnesses meet at each pair of variables that a row joins."""

MEETINGS_SQL = """\
SELECT DISTINCT access.left_variable, access.right_variable,
  one.document AS left_document, one.time AS left_time,
  other.document AS right_document, other.time AS right_time
FROM {{access}} AS access
JOIN {{left_bindings}} AS one ON one.variable = access.left_variable
JOIN {{right_bindings}} AS other ON other.variable = access.right_variable
  AND other.value = one.value AND other.time - one.time BETWEEN access.low AND access.high
WHERE {different}"""
"""Pairs of documents with a common value where some row begins, within its window."""

_DIFFERENT = "one.document <> other.document"
_DIFFERENT_CHAINED = "NOT array_contains(one.document.parts, other.document)"


def choose_access(
    spark: SparkSession, plan: Plan, rows: Mapping[int, Row], left: Side, right: Side
) -> dict[int, Pair]:
    """Return the pair of variables that drives each row: of its value joins the rarest.

    Only documents that meet there are looked at. Where a row has a choice, this counts values.
    """
    pairs = {number: _pairs(plan, row) for number, row in rows.items()}
    asked = {pair for found in pairs.values() if len(found) > 1 for pair in found}
    weights: dict[Pair, float] = {}
    if asked:
        counted = spark.sql(
            WEIGHTS_SQL,
            asked=table(spark, [_named(pair) for pair in sorted(asked)]),
            left_bindings=left.bindings,
            right_bindings=right.bindings,
        )
        weights = {(one, other): weight for one, other, weight in counted.collect()}
    return {
        number: min(found, key=lambda pair: weights.get(pair, 0.0))
        for number, found in pairs.items()
    }


def meetings(
    spark: SparkSession,
    rows: Mapping[int, Row],
    access: Mapping[int, Pair],
    left: Side,
    right: Side,
    is_chained: bool,
) -> DataFrame:
    """Return the pairs of documents that meet where rows begin."""
    spans: dict[Pair, tuple[int, int]] = {}
    for number, row in rows.items():
        low, high = distances(row)
        before = spans.get(access[number], (low, high))
        spans[access[number]] = (min(low, before[0]), max(high, before[1]))
    different = _DIFFERENT_CHAINED if is_chained else _DIFFERENT
    return spark.sql(
        MEETINGS_SQL.format(different=different),
        access=table(
            spark,
            [_named(pair) | {"low": low, "high": high} for pair, (low, high) in spans.items()],
        ),
        left_bindings=left.bindings,
        right_bindings=right.bindings,
    )


def _pairs(plan: Plan, row: Row) -> list[Pair]:
    """Return the distinct pairs of variables that a row joins."""
    left, right = (list(map(plan.number, tree.variables)) for tree in (row.left, row.right))
    return list(dict.fromkeys((left[one], right[other]) for one, other in row.joins))


def _named(pair: Pair) -> dict[str, int]:
    return {"left_variable": pair[LEFT], "right_variable": pair[RIGHT]}
