"""Positions among children, counted by siblings."""

from __future__ import annotations

from random import Random

import pytest

from penstock.planning.rewrites.child_positions import PARTS_MAX, count_child_positions
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

REWRITE = of_queries(count_child_positions)


def positions(random: Random) -> str:
    """Draw a path with many positions on children."""
    knobs = WholeKnobs(values=0, predicate=0.8, positions=0.7, axes=0.15, nesting_max=2)
    return random_xpath(random, knobs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[2]", "/descendant::a[count(preceding-sibling::a) = 1]"),
        ("/text()[3 > position()]", "/child::text()[count(preceding-sibling::text()) < 2]"),
        ("//a[.][2]", "/descendant::a[.][count(preceding-sibling::a[.]) = 1]"),
        (
            "//a[last() = position()]",
            "/descendant::a[count(parent::node()/child::a) = (count(preceding-sibling::a) + 1)]",
        ),
        ("/r/a[last() = 3]", "/child::r/child::a[count(parent::node()/child::a) = 3]"),
        (
            "//a[position() mod 2 = 0]",
            "/descendant::a[((count(preceding-sibling::a) + 1) mod 2) = 0]",
        ),
        (
            "//a[id(string(position()))]",
            "/descendant::a[id(string((count(preceding-sibling::a) + 1)))]",
        ),
    ],
)
def test_positions_of_children_are_counts(text: str, expected: str) -> None:
    assert shapes(REWRITE(general(text))) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "//a/@*[2]",
        "//a/descendant::b[2]",
        "//a/following-sibling::b[last()]",
        "(//a)[2]",
        "//a/ancestor::b[position() < 3]",
        "//a/namespace::*[1]",
    ],
)
def test_positions_on_other_axes_are_left_alone(text: str) -> None:
    query = general(text)
    assert REWRITE(query).output == query.output


def test_the_count_of_a_position_repeats_the_predicates_before_it() -> None:
    (shape,) = shapes(REWRITE(general("//a[2][3]")))
    nested = "count(preceding-sibling::a[count(preceding-sibling::a) = 1]) = 2"
    assert shape == f"/descendant::a[count(preceding-sibling::a) = 1][{nested}]"


def test_a_step_whose_counts_would_be_too_large_keeps_its_positions() -> None:
    doubled = PARTS_MAX.bit_length()
    query = general("//a" + "[position() != 7]" * doubled)
    assert REWRITE(query).output == query.output


def test_results_are_kept() -> None:
    assert_results_kept(
        REWRITE,
        "//node()[2]",
        "//a[last()]/@k",
        "//*[position() = last() - 1]",
        "//b[position() < 1.5]",
        "//*[position() != -1][2]",
        "//*[b][last()]",
        "//*[position() = string(.)]",
    )
    assert_random_xpath_results_kept(REWRITE, seed=31)


def test_three_valued_logic_decides_at_the_same_events() -> None:
    assert_oracle_decisions_kept(REWRITE, positions, 150)


def test_the_kernel_decides_groups_of_siblings_at_the_same_bytes() -> None:
    assert assert_kernel_decisions_kept("count_child_positions", positions, 90) > 25
