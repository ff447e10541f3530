"""Comparisons with absolute sets, node by node."""

from __future__ import annotations

from random import Random

import pytest

from penstock.planning.rewrites.absolute_comparisons import compare_node_by_node
from penstock_testing.generate import WholeKnobs, random_xpath
from tests.unit.planning.decisions import (
    assert_kernel_decisions_kept,
    assert_oracle_decisions_kept,
    general,
    of_queries,
)
from tests.unit.planning.results import (
    assert_random_xpath_results_kept,
    assert_results_kept,
    shapes,
)

REWRITE = of_queries(lambda expression, _: compare_node_by_node(expression))
RELATIVE = ("b", "@x", "../a", ".", "c//b", "b | @x", ".. | c", "following-sibling::b", "*[2]")


def comparisons(random: Random) -> str:
    """Draw a condition that compares a relative set with an absolute one, or its negation."""
    absolute = random_xpath(random, WholeKnobs(values=0, predicate=0.2, nesting_max=1, union=0))
    sides = [absolute, random.choice(RELATIVE)]
    random.shuffle(sides)
    condition = f"({sides[0]}) {random.choice(('=', '!=', '<', '<=', '>', '>='))} ({sides[1]})"
    return f"//a[{condition}]" if random.random() < 0.5 else f"//a[not({condition})]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("b = //k", "child::b[. = /descendant::k]"),
        ("//k < b", "child::b[. > /descendant::k]"),
        ("//k < .", ". > /descendant::k"),
        (
            "(b[c] | .)[d] = //k",
            "(child::b[child::c] | .)[child::d][. = /descendant::k]",
        ),
        ("(b | .) = /k", "(child::b | .)[. = /child::k]"),
        ("//b = //k", "/descendant::b = /descendant::k"),
        ("b = ../k", "child::b = parent::node()/child::k"),
        ("b = id(string(c))", "child::b = id(string(child::c))"),
    ],
)
def test_an_absolute_set_stands_beside_one_node(text: str, expected: str) -> None:
    assert shapes(REWRITE(general(f"//a[{text}]"))) == [f"/descendant::a[{expected}]"]


@pytest.mark.parametrize("empty", ["/@k", "/..", "/self::k", "(/)[k]/k", "(/.. | /@k)"])
def test_a_set_that_may_be_known_to_be_empty_at_once_stays_where_it_is(empty: str) -> None:
    query = general(f"//a[b = {empty}]")
    assert REWRITE(query).output == query.output


def test_results_are_kept() -> None:
    assert_results_kept(
        REWRITE,
        "//*[b = //@k]",
        "//*[not(* != //a)]",
        "//*[(../b | .) >= /r/b]",
        "//*[@k[2] = //b]",
    )
    assert_random_xpath_results_kept(REWRITE, seed=32)


def test_three_valued_logic_decides_at_the_same_events() -> None:
    assert_oracle_decisions_kept(REWRITE, comparisons, 100)


def test_the_kernel_decides_groups_of_siblings_at_the_same_bytes() -> None:
    assert assert_kernel_decisions_kept("compare_node_by_node", comparisons, 20) > 10
