"""Rows: what a query needs of each side, and which variables are the same."""

from __future__ import annotations

import pytest

from penstock.errors import QueryError
from penstock.languages.xscl import xscl
from penstock.planning.templates import JoinQuery, Place, Row, Term, compile_join
from penstock.twigs import JoinKind


def compiled(text: str) -> JoinQuery:
    return compile_join(xscl(text))


def row(text: str) -> Row:
    (only,) = compiled(text).rows
    return only


def keys(row: Row) -> tuple[list[str], list[str]]:
    """Return the paths of the variables of both trees."""
    left, right = (
        [variable.key.removeprefix("self::document()/") for variable in tree.variables]
        for tree in (row.left, row.right)
    )
    return left, right


def test_a_dropped_branch_is_a_condition_of_the_variable() -> None:
    found = row("SELECT y FROM S/r[k->x][t->t][u] JOIN{x = y, 1} S/b->y")
    assert keys(found)[0] == ["child::r[child::t][child::u]/child::k"]


def test_a_branch_that_joins_is_no_condition() -> None:
    found = row("S/r->r[k->x][t->t][u] JOIN{x = y AND t = z, 1} S/b->b[c->y][d->z]")
    assert keys(found)[0] == [
        "child::r[child::u]",
        "child::r[child::u]/child::k",
        "child::r[child::u]/child::t",
    ]


def test_conditions_inside_a_dropped_branch_count() -> None:
    one = row("S/r[k->x][t[v]->t] JOIN{x = y, 1} S/b->y")
    other = row("S/r[k->x][t->t[w->w]] JOIN{x = y, 1} S/b->y")
    assert keys(one)[0][0] == "child::r[child::t[child::v]]"
    assert keys(other)[0][0] == "child::r[child::t[child::w]]"


def test_the_order_of_conditions_does_not_matter() -> None:
    one = row("S/r[a][b = 1][k->x] JOIN{x = y, 1} S/b->y")
    assert row("S/r[b = 1][k->x][a] JOIN{x = y, 1} S/b->y") == one


def test_a_constant_is_part_of_the_variable() -> None:
    one = row("S/r[a = 1]/k->x JOIN{x = y, 1} S/b->y")
    other = row("S/r[a = 2]/k->x JOIN{x = y, 1} S/b->y")
    assert one.left.variables[0] != other.left.variables[0]
    assert one.right.variables == other.right.variables


def test_a_stream_is_part_of_the_variable() -> None:
    found = row("S/a->x JOIN{x = y, 1} T/a->y")
    (left,), (right,) = found.left.variables, found.right.variables
    assert left.key == right.key
    assert left != right


def test_one_variable_has_no_edges() -> None:
    found = row("SELECT x FROM S//a->x JOIN{x = y, 1} S//b->y")
    assert found.left.edges == ()
    assert found.left.slots == found.left.valued == (0,)


def test_a_selected_root_is_kept_beside_the_minor() -> None:
    found = row("S/r->r[g[k->x]] JOIN{x = y, 1} S/b->y")
    assert keys(found)[0] == ["child::r", "child::r/child::g/child::k"]
    assert found.left.slots == (1,)
    (edge,) = found.left.edges
    assert (edge.upper, edge.lower) == found.left.variables
    assert found.kept == (Place(0, 0), Place(1, 0))


def test_a_path_whose_normal_form_is_too_large_is_refused() -> None:
    conditions = "".join(f"[/r{n}/b = 1 or /r{n}/c = 2]" for n in range(12))
    with pytest.raises(QueryError) as caught:
        row(f"S//a{conditions}->x JOIN{{x = y, 1}} S//b->y")
    assert caught.value.code == "PQ0415"


def test_a_kept_place_may_lie_between_two_slots() -> None:
    found = row("SELECT m FROM S/r->r[m[p]->m[k->x]] JOIN{x = y AND r = z, 1} S/b[c->y][d->z]")
    assert keys(found)[0] == [
        "child::r",
        "child::r/child::m[child::p]",
        "child::r/child::m[child::p]/child::k",
    ]
    assert found.left.slots == (0, 2)
    assert len(found.left.edges) == 2


def test_terms_beside_the_value_joins() -> None:
    found = row("S/r->r[k->x][p->p] JOIN{x = y AND p < q AND x = p, 1} S/b->b[c->y][@q->q]")
    left, right = keys(found)
    assert found.terms == (
        Term(Place(0, left.index("child::r/child::p")), "<", Place(1, 2)),
        Term(Place(0, 1), "=", Place(0, 2)),
    )
    assert right[2] == "child::b/attribute::q"
    assert found.left.valued == (1, 2)
    assert found.template.joins == ((0, 0),)


def test_what_the_output_takes_by_value_is_valued() -> None:
    found = row("SELECT <e a='{r}'>{t}{i}</e> FROM S/r->r[k->x][t->t][@i->i] JOIN{x = y, 1} S/b->y")
    assert [keys(found)[0][place] for place in found.left.valued] == [
        "child::r[attribute::i][child::t]",
        "child::r[attribute::i][child::t]/child::k",
        "child::r[child::t]/attribute::i",
    ]


@pytest.mark.parametrize(
    ("window", "microseconds"), [("1", 1_000_000), ("1.5 ms", 1500), ("INF", None)]
)
def test_windows_are_in_microseconds(window: str, microseconds: int | None) -> None:
    assert row(f"S/a->x JOIN{{x = y, {window}}} S/b->y").window_us == microseconds


CHAIN = "S/a->x[@k->k] JOIN{x = y, 1} S/b->y[@l->l] FOLLOWED BY{y = z AND k = l2, 2} S/c->z[@l->l2]"


def test_a_chain_has_a_row_for_each_operator() -> None:
    first, second = compiled(CHAIN).rows
    assert (first.kind, second.kind) == (JoinKind.JOIN, JoinKind.FOLLOWED_BY)
    assert first.output == second.left.stream
    assert second.output is None
    assert all(variable.is_partial for variable in second.left.variables)
    assert [variable.key for variable in second.left.variables] == ["match", "1", "2", "3"]


def test_a_partial_match_carries_what_later_operators_and_the_output_use() -> None:
    first, second = compiled(CHAIN).rows
    kept = [(first.left, first.right)[p.side].variables[p.place].key for p in first.kept]
    assert [key.removeprefix("self::document()/") for key in kept] == [
        "child::a[attribute::k]",
        "child::b[attribute::l]",
        "child::a/attribute::k",
    ]
    assert [second.left.variables[slot].key for slot in second.left.slots] == ["match", "2", "3"]


def test_equal_beginnings_of_chains_have_equal_partial_matches() -> None:
    other = CHAIN.replace("FOLLOWED BY", "JOIN").replace("S/c", "T/d")
    assert compiled(other).rows[0] == compiled(CHAIN).rows[0]
    assert compiled(CHAIN.replace("S/a", "S/e")).rows[0].output != compiled(CHAIN).rows[0].output


def test_an_absent_block_keeps_nothing() -> None:
    found = row("S/a->x NOT FOLLOWED BY{x = y, 1} S/b->y[c->z]")
    assert found.kept == (Place(0, 0),)
    assert keys(found)[1] == ["child::b[child::c]"]


def test_a_query_of_one_block_stands_alone() -> None:
    query = compiled("SELECT x, y FROM S//a->x[b->y][c->z]")
    assert query.rows == ()
    assert query.alone is not None
    assert query.alone.tree.slots == ()
    assert query.alone.kept == (Place(0, 0), Place(0, 1))
    assert len(query.alone.tree.edges) == 1


def test_an_absolute_path_in_a_predicate_gives_alternatives() -> None:
    found = row("S//a[//b or c]/k->x JOIN{x = y, 1} S/b->y")
    variable = found.left.variables[found.left.slots[0]]
    assert len(variable.alternatives) == 2
    assert " | " in variable.key
