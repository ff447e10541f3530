"""Chains: what a row keeps is a partial match, which the next row reads like a document.

A partial match is known by what it is made of, the documents and the nodes that were kept. As a
document of bindings it has one node for each kept place, numbered by that place, all below the
match itself, which is wherever the edges begin.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from papers.mmqjp.spark.relations import Side, table
from papers.mmqjp.spark.rounds import Group, Plan
from penstock.planning.templates import MATCH, Alone, Edge, Row, Variable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

PARTIALS_SQL = """\
SELECT named_struct('parts', found.parts, 'nodes', found.nodes) AS document, found.time,
  kept.variable, kept.edge, 0 AS above, kept.place AS node, nodes.value
FROM {found} AS found
JOIN {kept} AS kept ON kept.row = found.row
JOIN {nodes} AS nodes ON nodes.document = get(found.nodes, kept.place).document
  AND nodes.node = get(found.nodes, kept.place).node"""


def partial_side(
    spark: SparkSession,
    plan: Plan,
    groups: list[Group],
    before: Mapping[int, Row | Alone],
    found: DataFrame,
    nodes: DataFrame,
) -> Side:
    """Return the partial matches that the rows of groups read, as their left side.

    ``before`` are the rows of earlier rounds, and ``found`` is what they found.
    """
    read = {
        row.left.stream for group in groups for row in group.rows.values() if isinstance(row, Row)
    }
    kept = []
    for number, row in before.items():
        if isinstance(row, Row) and row.output in read:
            match = Variable(row.output, MATCH)
            for place in range(len(row.kept)):
                variable = Variable(row.output, str(place + 1))
                numbers = {
                    "variable": plan.number(variable),
                    "edge": plan.edge_number(Edge(match, variable)),
                }
                kept.append({"row": number, "place": place, **numbers})
    made = spark.sql(PARTIALS_SQL, found=found, kept=table(spark, kept), nodes=nodes)
    made = made.localCheckpoint()
    return Side(made, made)
