"""Paths in predicates become variables of the blocks, and the results stay the same."""

from random import Random

from penstock.languages.xscl import xscl
from penstock.planning.rewrites.value_joins import to_value_joins
from penstock.twigs.printing import print_query
from penstock_testing.generate import JoinKnobs, random_stream, random_xscl
from penstock_testing.reference import run
from tests.join_engines import arrivals_of


def lines(text: str) -> list[str]:
    """Return the printed form after the rewrite, without indentation and output."""
    return [line.strip() for line in print_query(to_value_joins(xscl(text))).splitlines()[1:]]


def test_a_path_becomes_a_branch_with_a_variable() -> None:
    assert lines("S/a->x JOIN{x/k = y/@k, 1} S/b->y") == [
        "block 0 of stream S",
        "self::document()",
        "child::a as $x",
        "child::k as $x/1",
        "block 1 of stream S",
        "self::document()",
        "child::b as $y",
        "attribute::k as $y/2",
        "JOIN block 1 on $x/1 = $y/2 within 1 s",
    ]


def test_each_mention_of_a_path_is_a_variable_of_its_own() -> None:
    found = lines("S/a->x JOIN{x/k = y AND x/k != y, 1} S/b->y")
    assert [line for line in found if "child::k" in line] == [
        "child::k as $x/1",
        "child::k as $x/2",
    ]
    assert found[-1] == "JOIN block 1 on $x/1 = $y and $x/2 != $y within 1 s"


def test_a_term_of_one_block_is_a_filter_of_that_block() -> None:
    found = lines("S/a->x[b->z] JOIN{x = y AND z <= x/c, 1} S/b->y")
    assert "where $z <= $x/1" in found
    assert found[-1] == "JOIN block 1 on $x = $y within 1 s"


def test_a_term_moves_to_the_operator_that_joins_its_blocks() -> None:
    text = "S/a->x JOIN{x = y, 1} S/b->y JOIN{y = z AND y/k > x, 1} S/c->z"
    assert lines(text)[-2:] == [
        "JOIN block 1 on $x = $y and $x < $y/1 within 1 s",
        "JOIN block 2 on $y = $z within 1 s",
    ]


def test_normal_form_is_left_alone() -> None:
    query = xscl("S/a->x JOIN{x = y, 1} S/b->y")
    assert to_value_joins(query) is query


def test_results_are_kept() -> None:
    random = Random(11)
    knobs = JoinKnobs(path=0.7, constant=0.3, inequality=0.4)
    rewritten = found = 0
    for _ in range(250):
        arrivals = arrivals_of(random_stream(random))
        query = xscl(random_xscl(random, knobs))
        after = to_value_joins(query)
        expected = run({"q": query}, arrivals)
        assert sorted(run({"q": after}, arrivals)) == sorted(expected), query.text
        rewritten += after is not query
        found += bool(expected)
    assert rewritten > 100
    assert found > 30
