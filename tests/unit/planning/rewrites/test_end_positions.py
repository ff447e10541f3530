"""Positions that are counted from the end."""

from __future__ import annotations

from random import Random

import pytest

from penstock.planning.rewrites.end_positions import count_from_the_end
from tests.unit.planning.decisions import (
    assert_kernel_decisions_kept,
    assert_oracle_decisions_in_time,
    assert_oracle_decisions_kept,
    general,
    of_queries,
)
from tests.unit.planning.results import (
    assert_random_xpath_results_kept,
    assert_results_kept,
    shapes,
)

REWRITE = of_queries(count_from_the_end)
STEPS = (
    "",
    "following-sibling::",
    "preceding-sibling::",
    "/",
    "child::b/following-sibling::",
    "ancestor::",
    "ancestor-or-self::",
    "following::",
    "@x/following::",
)
TESTS = ("*", "a", "b", "node()", "text()")
SIGNS = ("=", "!=", "<", "<=", ">", ">=")


def ends(random: Random) -> str:
    """Draw a path with a position that is compared with the last one."""
    end = random.choice(("last()", "last()", "last() - 1", "last() - 2", "last() - 0.5"))
    sides = ["position()", end]
    random.shuffle(sides)
    position = f"[{sides[0]} {random.choice(SIGNS)} {sides[1]}]"
    before, after = random.choice(("", "[2]", "[@x]")), random.choice(("", "[1]", "[@x]"))
    predicates = before * (random.random() < 0.2) + position + after
    step = random.choice(STEPS) + random.choice(TESTS) + predicates
    return f"//{random.choice('ab*')}/{step}{random.choice(('', '/*', '/@x'))}"


def conditional_ends(random: Random) -> str:
    """Draw a path with such a position behind a condition that may be decided late."""
    context, step, test = random.choice("a**"), random.choice(STEPS), random.choice(("*", "node()"))
    condition = random.choice(("*", "not(b)", "following::*", ". = //*", "not(*[2])", "@x"))
    position = random.choice(("last()", "last()", "position() != last()", "last() - 1"))
    return f"//{context}/{step}{test}[{condition}][{position}]{random.choice(('', '/*', '[1]'))}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[last()]", "/descendant::a[count(following-sibling::a) = 0]"),
        ("//a[position() < last() - 1]", "/descendant::a[count(following-sibling::a) > 1]"),
        ("/a[last() - 2 < position()]", "/child::a[count(following-sibling::a) < 2]"),
        (
            "/a/following-sibling::b[last()][2]",
            "/child::a/following-sibling::b[count(following-sibling::b) = 0][position() = 2]",
        ),
        (
            "/a/preceding-sibling::b[last() or position() = 1]",
            "/child::a/preceding-sibling::b[boolean(last()) or position() = 1]",
        ),
        (
            "/a/preceding-sibling::b[position() = last() or position() = 1]",
            "/child::a/preceding-sibling::b[count(preceding-sibling::b) = 0 or position() = 1]",
        ),
        ("/a/ancestor-or-self::b[last()]", "/child::a/ancestor-or-self::b[count(ancestor::b) = 0]"),
        (
            "/a/following::b[position() < last()]",
            "/child::a/following::b[(count(descendant::b) + count(following::b)) > 0]",
        ),
        (
            "/a/ancestor::b[c][last()]",
            "/child::a/ancestor::b[child::c][count(ancestor::b[child::c]) = 0]",
        ),
    ],
)
def test_the_distance_from_the_last_node_is_a_count(text: str, expected: str) -> None:
    assert shapes(REWRITE(general(text))) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "//a[b][last()]",
        "//a[last() = 3]",
        "//a[position() = last() - 0.5]",
        "//a[position() = last() - @x]",
        "//a/following-sibling::b[2][last()]",
        "//a/descendant::b[last()]",
        "//a/preceding::b[last()]",
        "(//a)[last()]",
    ],
)
def test_other_positions_are_left_alone(text: str) -> None:
    query = general(text)
    assert REWRITE(query).output == query.output


def test_results_are_kept() -> None:
    assert_results_kept(
        REWRITE,
        "//*[last() - 0.00000000000000001 = position()]",
        "//b/preceding-sibling::node()[last() - 1]",
        "//*/following-sibling::*[position() != last()]",
    )
    assert_random_xpath_results_kept(REWRITE, seed=34)


def test_three_valued_logic_decides_at_the_same_events() -> None:
    assert_oracle_decisions_kept(REWRITE, ends, 150)


def test_behind_a_condition_three_valued_logic_decides_no_later() -> None:
    assert assert_oracle_decisions_in_time(REWRITE, conditional_ends, 120) > 40


def test_the_kernel_decides_groups_of_siblings_at_the_same_bytes() -> None:
    assert assert_kernel_decisions_kept("count_from_the_end", ends, 40) > 20
