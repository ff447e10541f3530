"""Steps to siblings as conditions on the siblings."""

from __future__ import annotations

from random import Random

import pytest

from penstock.planning.rewrites.sibling_steps import turn_sibling_steps
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

REWRITE = of_queries(turn_sibling_steps)
POSITIONS = ("", "", "[1]", "[2]", "[position() > 1]", "[position() >= 2]", "[position() < 3]")


def siblings(random: Random) -> str:
    """Draw a path with steps to siblings, or a count of one."""
    condition = random_xpath(random, WholeKnobs(values=0, nesting_max=1, union=0, filters=0))
    name = random.choice(("*", "a", "node()"))
    axis = random.choice(("following", "following", "preceding")) + "-sibling"
    start = random.choice(("//", "//", "/r/", "//a/")) + random.choice((name, "b"))
    start += random.choice(("", "", f"[{condition}]", "[following::c]"))
    path = f"{start}/{axis}::{name}{random.choice(POSITIONS)}{random.choice(('', '[@x]'))}"
    if random.random() < 0.3:
        path += f"/following-sibling::{random.choice('abc')}"
    if random.random() < 0.2:
        return f"//*[count({path.lstrip('/')}) > 1]"
    return path + random.choice(("", "/*", "/@x"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a/following-sibling::b", "/descendant::b[preceding-sibling::a]"),
        (
            "/r/a[x]/preceding-sibling::b[y]/z",
            "/child::r/child::b[child::y][following-sibling::a[child::x]]/child::z",
        ),
        (
            "//a/following-sibling::b/following-sibling::c",
            "/descendant::c[preceding-sibling::b[preceding-sibling::a]]",
        ),
        ("//a/following-sibling::a[1]", "/descendant::a[count(preceding-sibling::a) >= 1]"),
        (
            "//a/preceding-sibling::a[position() > 2][b]",
            "/descendant::a[count(following-sibling::a) > 2][child::b]",
        ),
        (
            "//x[a/following-sibling::b]",
            "/descendant::x[child::b[preceding-sibling::a]]",
        ),
    ],
)
def test_siblings_ask_where_a_step_started(text: str, expected: str) -> None:
    assert shapes(REWRITE(general(text))) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "//a/following-sibling::b[1]",
        "//a[x]/following-sibling::a[1]",
        "//a[2]/following-sibling::b",
        "//a/following-sibling::a[1][2]",
        "//a/following-sibling::a[1.5]",
        "//a/following-sibling::a[position() < 3]",
        "//a/following-sibling::a[position() >= 0]",
        "//a/self::a/following-sibling::a",
        "//a[following-sibling::b]",
    ],
)
def test_positions_that_depend_on_the_start_are_left_alone(text: str) -> None:
    query = general(text + "[not(following::zz)]")
    assert REWRITE(query).output == query.output


def test_results_are_kept() -> None:
    assert_results_kept(
        REWRITE,
        "//node()/following-sibling::node()[2]",
        "//b/preceding-sibling::b[1]/@k",
        "//*[b]/following-sibling::*/preceding-sibling::b",
        "//*[count(b/following-sibling::*) = 1]",
    )
    assert_random_xpath_results_kept(REWRITE, seed=35)


def test_three_valued_logic_decides_at_the_same_events() -> None:
    assert_oracle_decisions_kept(REWRITE, siblings, 120)


def test_the_kernel_decides_groups_of_siblings_at_the_same_bytes() -> None:
    assert assert_kernel_decisions_kept("turn_sibling_steps", siblings, 50) > 20
