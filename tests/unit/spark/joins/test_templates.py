"""The SQL of templates: what is joined, and in which order."""

from __future__ import annotations

import penstock
from penstock.spark.joins.batch.rounds import Plan
from penstock.spark.joins.batch.templates import template_sql


def sql_of(text: str) -> str:
    (group,) = Plan({"q": penstock.xscl(text)}).rounds[-1]
    return template_sql(group)


def test_leaves_hang_below_their_top_and_drag_nothing_else_in() -> None:
    found = sql_of("S//a->x[k->k][l->l] FOLLOWED BY{k = m AND l = n, 5} S//b->y[k->m][l->n]")
    assert (
        found
        == """\
WITH slots AS (
  SELECT rows.*, met.left_document, met.right_document, met.left_time, met.right_time,
    left_1.above AS left_0, left_1.node AS left_1, left_2.node AS left_2,\
 right_1.above AS right_0, right_1.node AS right_1, right_2.node AS right_2
  FROM {meetings} AS met
  JOIN {rows} AS rows ON rows.left_access = met.left_variable\
 AND rows.right_access = met.right_variable\
 AND met.right_time - met.left_time BETWEEN rows.low AND rows.high
  JOIN {left_edges} AS left_1 ON left_1.document = met.left_document\
 AND left_1.edge = rows.left_slot_1
  JOIN {right_edges} AS right_1 ON right_1.document = met.right_document\
 AND right_1.edge = rows.right_slot_1
  JOIN {left_edges} AS left_2 ON left_2.document = met.left_document\
 AND left_2.edge = rows.left_slot_2 AND left_2.above = left_1.above
  JOIN {right_edges} AS right_2 ON right_2.document = met.right_document\
 AND right_2.edge = rows.right_slot_2 AND right_2.above = right_1.above
  WHERE left_1.value = right_1.value AND left_2.value = right_2.value
)
SELECT DISTINCT slots.row,\
 concat(array(slots.left_document), array(slots.right_document)) AS parts,
  CAST(array(named_struct('document', slots.left_document, 'node', slots.left_0),\
 named_struct('document', slots.right_document, 'node', slots.right_0))\
 AS ARRAY<STRUCT<document: BIGINT, node: INT>>) AS nodes,\
 greatest(slots.left_time, slots.right_time) AS time
FROM slots
WHERE slots.shape = 0"""
    )


def test_what_is_kept_above_the_slots_is_reached_by_edges() -> None:
    found = sql_of("S//a->x[k->k] FOLLOWED BY{k = m, 5} S//b->y[k->m]")
    for side in ("left", "right"):
        assert (
            f"JOIN {{{side}_edges}} AS {side}_place_1 ON {side}_place_1.document"
            f" = slots.{side}_document AND {side}_place_1.edge = slots.{side}_edge_1"
            f" AND {side}_place_1.node = slots.{side}_0"
        ) in found


def test_absence_leaves_the_bindings_that_nothing_followed() -> None:
    found = sql_of("S//a->x[k->k] NOT FOLLOWED BY{k = m, 5} S//b->y[k->m]")
    assert "LEFT ANTI JOIN" in found
    assert found.endswith(
        "ON followed.row = bound.row AND followed.document = bound.document"
        " AND followed.place_0 = bound.place_0 AND followed.place_1 = bound.place_1"
    )


def test_inequalities_compare_numbers_and_what_is_none_compares_with_nothing() -> None:
    found = sql_of("S//a->x[k->k][p->p] JOIN{k = m AND p < q, 5} S//b->y[k->m][q->q]")
    assert "RLIKE" in found
    assert "THEN CAST(left_value_2.value AS DOUBLE) END < CASE" in found
    assert "RLIKE" not in sql_of("S//a->x[k->k][p->p] JOIN{k = m AND p != q, 5} S//b[k->m]/q->q")


def test_partial_matches_carry_their_documents_and_nodes() -> None:
    found = sql_of("A//a->x JOIN{x = y, 5} B//b->y JOIN{y = z, 5} C//c->z")
    assert "concat(slots.left_document.parts, array(slots.right_document)) AS parts" in found
    assert "get(slots.left_document.nodes, " in found
