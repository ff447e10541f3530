"""The relations of stage 2 as DataFrames: witnesses (RL and RR), rows (RT), and who meets whom."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.planning.templates import LEFT, TOP, Alone, Edge, Row, WitnessTree
from penstock.spark.joins.batch.rounds import Group, Plan, Shape
from penstock.spark.joins.batch.templates import SIDES
from penstock.spark.joins.batch.witnesses import BINDING, DOCUMENT, EDGE, ERROR, NODE
from penstock.twigs import JoinKind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOREVER_US = (1 << 62) - 1


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

    def with_(self, other: Witnesses) -> Witnesses:
        """Return these and others."""
        return Witnesses(self.written.unionByName(other.written))

    def _kind(self, kind: str) -> DataFrame:
        return self.written.where(f"kind = '{kind}'")


def distances(row: Row) -> tuple[int, int]:
    """Return the least and the largest distance in time, right minus left, that a row admits."""
    window = FOREVER_US if row.window_us is None else min(row.window_us, FOREVER_US)
    return (-window if row.kind is JoinKind.JOIN else 1, window)


def rows_table(spark: SparkSession, plan: Plan, group: Group) -> DataFrame:
    """Return RT for the rows of a group.

    Of a template's slots the top has its variable, the others their edges; of a tree's places all
    have their variables, and all but the top their edges.
    """
    made = []
    for number, row in group.rows.items():
        columns: dict[str, int] = {"row": number, "shape": group.shapes[Shape.of(row)]}
        if isinstance(row, Alone):
            columns |= _places(plan, SIDES[LEFT], row.tree)
        else:
            columns["low"], columns["high"] = distances(row)
            for side, tree in zip(SIDES, (row.left, row.right), strict=True):
                columns |= _places(plan, side, tree)
                columns[f"{side}_slot_0"] = plan.asking.number(tree.variables[tree.slots[0]])
                for slot, edge in enumerate(tree.minor_edges, start=1):
                    columns[f"{side}_slot_{slot}"] = _edge_number(plan, edge)
        made.append(columns)
    return table(spark, made)


def _places(plan: Plan, side: str, tree: WitnessTree) -> dict[str, int]:
    columns = {
        f"{side}_variable_{place}": plan.asking.number(variable)
        for place, variable in enumerate(tree.variables)
    }
    below = [place for place, parent in enumerate(tree.parents) if parent != TOP]
    for place, edge in zip(below, tree.edges, strict=True):
        columns[f"{side}_edge_{place}"] = _edge_number(plan, edge)
    return columns


def _edge_number(plan: Plan, edge: Edge) -> int:
    return plan.paths.edge_number(plan.asking.number(edge.upper), plan.asking.number(edge.lower))


def table(spark: SparkSession, rows: list[dict[str, Any]]) -> DataFrame:
    """Return a small relation; what a row lacks is null."""
    import pyarrow as pa

    names = list(dict.fromkeys(name for row in rows for name in row))
    return spark.createDataFrame(
        pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    )


PAIRS = "left_variable", "right_variable"

WEIGHTS_SQL = """\
SELECT asked.left_variable, asked.right_variable, sum(one.count * other.count) AS weight
FROM (SELECT DISTINCT left_variable, right_variable FROM {pairs}) AS asked
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

ACCESS_SQL = """\
SELECT row, rarest.left_variable, rarest.right_variable, low, high
FROM (
  SELECT pairs.row, pairs.low, pairs.high,
    min(struct(
      coalesce(weights.weight, 0) AS weight, pairs.left_variable, pairs.right_variable
    )) AS rarest
  FROM {pairs} AS pairs
  LEFT JOIN {weights} AS weights ON weights.left_variable = pairs.left_variable
    AND weights.right_variable = pairs.right_variable
  GROUP BY pairs.row, pairs.low, pairs.high
)"""
"""The value join that drives each row: the rarest."""

MEETINGS_SQL = """\
SELECT DISTINCT access.left_variable, access.right_variable,
  one.document AS left_document, one.time AS left_time,
  other.document AS right_document, other.time AS right_time
FROM (
  SELECT left_variable, right_variable, min(low) AS low, max(high) AS high
  FROM {{access}} GROUP BY left_variable, right_variable
) AS access
JOIN {{left_bindings}} AS one ON one.variable = access.left_variable
JOIN {{right_bindings}} AS other ON other.variable = access.right_variable
  AND other.value = one.value AND other.time - one.time BETWEEN access.low AND access.high
WHERE {different}"""
"""Pairs of documents with a common value where some row begins, within its window."""

_DIFFERENT = "one.document <> other.document"
_DIFFERENT_CHAINED = "NOT array_contains(one.document.parts, other.document)"


@dataclass(frozen=True, slots=True)
class Meetings:
    """Which documents meet for which rows."""

    access: DataFrame
    meetings: DataFrame


def meetings_sql(is_chained: bool) -> str:
    """Return the statement that finds the documents which meet."""
    return MEETINGS_SQL.format(different=_DIFFERENT_CHAINED if is_chained else _DIFFERENT)


def meet(
    spark: SparkSession,
    plan: Plan,
    groups: Iterable[Group],
    left: Side,
    right: Side,
    is_chained: bool,
) -> Meetings:
    """Return who meets whom, for the rows of groups that bind the same sides."""
    pairs, is_driven = [], True
    for group in groups:
        for number, row in group.rows.items():
            assert isinstance(row, Row), "a block alone meets nobody"
            found = _pairs(plan, row)
            low, high = distances(row)
            is_driven &= len(found) == 1
            pairs += [
                {"row": number, "left_variable": one, "right_variable": other}
                | {"low": low, "high": high}
                for one, other in found
            ]
    access = table(spark, pairs)
    bindings: dict[str, Any] = {
        "left_bindings": left.bindings,
        "right_bindings": right.bindings,
    }
    if not is_driven:
        weights = spark.sql(WEIGHTS_SQL, pairs=access, **bindings)
        access = spark.sql(ACCESS_SQL, pairs=access, weights=weights)
    return Meetings(access, spark.sql(meetings_sql(is_chained), access=access, **bindings))


def _pairs(plan: Plan, row: Row) -> list[tuple[int, int]]:
    """Return the distinct pairs of variables that a row joins."""
    left, right = (
        [plan.asking.number(tree.variables[place]) for place in tree.slots]
        for tree in (row.left, row.right)
    )
    return list(dict.fromkeys((left[one], right[other]) for one, other in row.template.joins))
