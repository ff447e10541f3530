"""Counts that are compared with nothing."""

from __future__ import annotations

from random import Random

import pytest

from penstock.planning.rewrites.counts_of_none import ask_for_existence
from penstock_testing.generate import WholeKnobs, random_xpath
from tests.unit.planning.decisions import (
    assert_kernel_decisions_kept,
    assert_oracle_decisions_kept,
    general,
    of_queries,
)
from tests.unit.planning.results import assert_results_kept, shapes

REWRITE = of_queries(ask_for_existence)
SIGNS = ("=", "!=", "<", "<=", ">", ">=")


def counts(random: Random) -> str:
    """Draw a path with a small count in its predicate."""
    path = random_xpath(random, WholeKnobs(values=0, nesting_max=2))
    counted = random_xpath(random, WholeKnobs(values=0, nesting_max=1, union=0)).lstrip("/")
    if counted.startswith("("):
        counted = "*"
    number = random.choice((f"count({counted})", f"count({counted}) + count(*)"))
    sides = [number, random.choice("0112")]
    random.shuffle(sides)
    return f"//*[{sides[0]} {random.choice(SIGNS)} {sides[1]}] | {path}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[count(../b) > 0]", "/descendant::a[parent::node()/child::b]"),
        ("//a[1 <= count(../b)]", "/descendant::a[parent::node()/child::b]"),
        ("//a[count(../b) = 0]", "/descendant::a[not(parent::node()/child::b)]"),
        ("//a[1 > count(../b)]", "/descendant::a[not(parent::node()/child::b)]"),
        ("//a[count(../b) = 1]", "/descendant::a[count(parent::node()/child::b) = 1]"),
        (
            "//a[count(b) + count(c) = 0]",
            "/descendant::a[not(child::b or child::c)]",
        ),
        ("//a[0 < count(b) + count(c)]", "/descendant::a[child::b or child::c]"),
        ("//a[count(b) + 1 > 0]", "/descendant::a[(count(child::b) + 1) > 0]"),
        ("//a[0 > count(../b)]", "/descendant::a[0 > count(parent::node()/child::b)]"),
    ],
)
def test_a_count_compared_with_nothing_asks_for_existence(text: str, expected: str) -> None:
    assert shapes(REWRITE(general(text))) == [expected]


def test_results_are_kept() -> None:
    for sign in SIGNS:
        for number in ("0", "1", "-1", "0.5", "0 div 0"):
            assert_results_kept(REWRITE, f"//*[count(b) {sign} {number}]")
            assert_results_kept(REWRITE, f"//*[{number} {sign} count(../a | b)]")
            assert_results_kept(REWRITE, f"//*[count(a) + count(../b) {sign} {number}]")


def test_three_valued_logic_decides_at_the_same_events() -> None:
    assert_oracle_decisions_kept(REWRITE, counts, 80)


def test_the_kernel_decides_groups_of_siblings_at_the_same_bytes() -> None:
    assert assert_kernel_decisions_kept("ask_for_existence", counts, 40) > 20
