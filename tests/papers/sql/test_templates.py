"""The SQL of templates: what is joined, and in which order."""

from __future__ import annotations

from papers.mmqjp.spark.rounds import Plan
from papers.mmqjp.spark.templates import template_sql
from penstock.planning.programs import compile_program


def sql_of(text: str) -> str:
    (group,) = Plan({"q": compile_program(text, language="xscl")}).rounds[-1]
    return template_sql(group)


def test_leaves_hang_below_their_top_and_drag_nothing_else_in() -> None:
    found = sql_of("S//a->x[k->k][l->l] FOLLOWED BY{k = m AND l = n, 5} S//b->y[k->m][l->n]")
    assert (
        found
        == """\
SELECT DISTINCT rows.row,\
 concat(array(met.left_document), array(met.right_document)) AS parts,
  CAST(array(named_struct('document', met.left_document, 'node', left_place_1.above),\
 named_struct('document', met.right_document, 'node', right_place_1.above))\
 AS ARRAY<STRUCT<document: BIGINT, node: INT>>) AS nodes,\
 greatest(met.left_time, met.right_time) AS time
FROM {meetings} AS met
JOIN {rows} AS rows ON rows.left_access = met.left_variable\
 AND rows.right_access = met.right_variable AND rows.shape = 0\
 AND met.right_time - met.left_time BETWEEN rows.low AND rows.high
JOIN {left_edges} AS left_place_1 ON left_place_1.document = met.left_document\
 AND left_place_1.edge = rows.left_edge_1
JOIN {right_edges} AS right_place_1 ON right_place_1.document = met.right_document\
 AND right_place_1.edge = rows.right_edge_1
JOIN {left_edges} AS left_place_2 ON left_place_2.document = met.left_document\
 AND left_place_2.edge = rows.left_edge_2 AND left_place_2.above = left_place_1.above
JOIN {right_edges} AS right_place_2 ON right_place_2.document = met.right_document\
 AND right_place_2.edge = rows.right_edge_2 AND right_place_2.above = right_place_1.above
WHERE left_place_1.value = right_place_1.value AND left_place_2.value = right_place_2.value"""
    )


def test_what_lies_between_places_that_join_is_reached_before_the_second_of_them() -> None:
    text = "S//a->x[m->m[k->k]][l->l] JOIN{k = n AND l = o, 5} S//b[n->n][o->o]"
    found = sql_of(f"SELECT m FROM {text}")
    left = [line for line in found.split("\n") if line.startswith("JOIN {left_edges}")]
    assert [line.split(" AS ")[1].split(" ON ")[0] for line in left] == [
        "left_place_2",
        "left_place_1",
        "left_place_3",
    ]
    # From the leaf up to the top that both have, and down again.
    assert left[1].endswith("left_place_1.node = left_place_2.above")
    assert left[2].endswith("left_place_3.above = left_place_1.above")


def test_a_place_whose_edge_was_not_needed_gets_its_value_from_the_bindings() -> None:
    found = sql_of("S//a->x[k->k] JOIN{k = m AND x != n, 5} S//b[m->m][n->n]")
    assert (
        "JOIN {left_bindings} AS left_value_0 ON left_value_0.document = met.left_document"
        " AND left_value_0.variable = rows.left_variable_0"
        " AND left_value_0.node = left_place_1.above"
    ) in found
    assert "left_value_0.value != right_place_2.value" in found


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
    assert "THEN CAST(left_place_2.value AS DOUBLE) END < CASE" in found
    assert "RLIKE" not in sql_of("S//a->x[k->k][p->p] JOIN{k = m AND p != q, 5} S//b[k->m]/q->q")


def test_partial_matches_carry_their_documents_and_nodes() -> None:
    found = sql_of("A//a->x JOIN{x = y, 5} B//b->y JOIN{y = z, 5} C//c->z")
    assert "concat(met.left_document.parts, array(met.right_document)) AS parts" in found
    assert "get(met.left_document.nodes, " in found
