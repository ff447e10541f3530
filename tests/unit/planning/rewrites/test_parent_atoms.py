"""What is asked of the parent, evaluated there."""

from __future__ import annotations

from random import Random

import pytest

from penstock.planning.rewrites.parent_atoms import ask_parents
from penstock_testing.generate import WholeKnobs, random_xpath
from tests.unit.planning.decisions import (
    assert_kernel_decisions_kept,
    assert_oracle_decisions_kept,
    decisions,
    general,
    of_queries,
    switched_off,
)
from tests.unit.planning.results import (
    assert_random_xpath_results_kept,
    assert_results_kept,
    shapes,
)

REWRITE = of_queries(ask_parents)
PARENTS = (
    "count({}) > 2",
    "not({})",
    "{} and ../@x",
    "{} or b",
    "{} = 1",
    "{} != ../@x",
    "sum({}) >= count(../*)",
    "{} = @x",
    "{} = //b",
    "position() < count({})",
    "count({}) mod 2 = count(preceding-sibling::*)",
)


def parents(random: Random) -> str:
    """Draw a condition about what is beside or around a node, by way of its parent."""
    knobs = WholeKnobs(values=0, predicate=0.3, nesting_max=1, union=0, filters=0)
    below = random_xpath(random, knobs).lstrip("/")
    up = random.choice(("..", "..", "../..", "parent::r", "parent::a"))
    node = random.choice(("*", "a", "node()", "@*", "r/*", "r/a"))
    condition = random.choice(PARENTS).format(f"{up}/{below}")
    return f"//{node}[{condition}]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[../b]", "/descendant::a[above(parent::node(), boolean(child::b), false())]"),
        ("/r/a[../b]", "/child::r/child::a[above(parent::r, boolean(child::b), false())]"),
        ("/r/@a[../b]", "/child::r/attribute::a[above(parent::r, boolean(child::b), false())]"),
        ("/a[../b]", "/child::a[above(parent::document(), boolean(child::b), false())]"),
        (
            "//a[b[count(../c) > 5]]",
            "/descendant::a[child::b[above(parent::a, count(child::c) > 5, false())]]",
        ),
        (
            "/r/a[parent::x/b]",
            "/child::r/child::a[above(parent::x, boolean(child::b), false())]",
        ),
        (
            "//a[not(../b) and ../c = 1]",
            "/descendant::a[above(parent::node(), not(child::b) and child::c = 1, false())]",
        ),
        (
            "//a[not(../b or number(../c) > 1)]",
            "/descendant::a[above(parent::node(),"
            " not(child::b or number(string(child::c)) > 1), true())]",
        ),
        (
            "//a[string-length(../b) = @n]",
            "/descendant::a[attribute::n"
            " = above(parent::node(), string-length(string(child::b)), 0)]",
        ),
        (
            "//a[../../b]",
            "/descendant::a[above(parent::node(),"
            " above(parent::node(), boolean(child::b), false()), false())]",
        ),
        (
            "//a[../b = (../c | ..)]",
            "/descendant::a[above(parent::node(), child::b = child::c | ., false())]",
        ),
        (
            "//a[id(../b)]",
            "/descendant::a[id(above(parent::node(), strings(child::b), ''))]",
        ),
    ],
)
def test_atoms_of_the_parent_are_asked_there(text: str, expected: str) -> None:
    assert shapes(REWRITE(general(text))) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "//a[..]",
        "//a[.. = 1]",
        "//a[name(..) = 'x']",
        "//a[../b = c]",
        "//a[../b = //c]",
        "//a[../b = parent::x/c]",
        "//a[../b[2] = position()]",
        "//a[parent::node()[@x]/b]",
        "//a/../b",
    ],
)
def test_what_asks_for_more_than_the_parent_is_left_alone(text: str) -> None:
    query = general(text)
    assert REWRITE(query).output == query.output


def test_results_are_kept() -> None:
    assert_results_kept(
        REWRITE,
        "//@*[../b]",
        "/node()[not(../r)]",
        "//*[string(../b) = string(../../b)]",
        "//*[count(../*) = 2 or not(parent::r/b)]",
    )
    assert_random_xpath_results_kept(REWRITE, seed=33)


def test_three_valued_logic_decides_at_the_same_events() -> None:
    assert_oracle_decisions_kept(REWRITE, parents, 150)


def test_the_kernel_decides_groups_of_siblings_at_the_same_bytes() -> None:
    assert assert_kernel_decisions_kept("ask_parents", parents, 60) > 20


def test_the_first_child_of_the_parent_is_no_longer_late() -> None:
    source = b"<r><a/><b>x</b><b>y</b></r>"
    query = general("//a[string(../b) = 'x']")
    with switched_off("ask_parents"):
        ((before, _),) = decisions(query, source)
    ((after, _),) = decisions(query, source)
    assert (after, before) == (source.index(b"<b>y"), len(source))
