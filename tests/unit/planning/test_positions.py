"""Positions that constants name are shared by all nodes that count along an axis."""

from __future__ import annotations

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.explain import verdict
from penstock.planning.verdicts import Cost


@pytest.mark.parametrize(
    ("query", "cost"),
    [
        ("//a/following-sibling::b[2]", Cost.FLAT),
        ("//a/following-sibling::b[@n][2]", Cost.FLAT),
        ("//a/following-sibling::b[position() > 2]", Cost.FLAT),
        ("//a/following::b[position() > 2 and @n]", Cost.FLAT),
        ("//a/following::b[not(2 < position()) or position() = 7]", Cost.FLAT),
        ("//a[following-sibling::b[@n][position() < 3]]", Cost.KEPT),
        ("//a[preceding-sibling::b[position() < 3]]", Cost.FLAT),
        ("//a[preceding-sibling::b[position() > 3]]", Cost.KEPT),
        ("//a[preceding-sibling::b[not(position() <= 3)]]", Cost.KEPT),
        ("//a[preceding-sibling::b[3 >= position()]]", Cost.FLAT),
        ("//a[count(following-sibling::b[@n][2]) = 1]", Cost.PAIRS),
        ("//a[count(following-sibling::b[position() > 2]) = 1]", Cost.PAIRS),
        ("//a/following-sibling::b[position() mod 2 = 1]", Cost.PAIRS),
        ("//a/following-sibling::b[position() = @n]", Cost.PAIRS),
        ("//a/following-sibling::b[2][position() > 1]", Cost.PAIRS),
        ("//a/following-sibling::b[position() > 2 or @n]", Cost.PAIRS),
    ],
)
def test_the_verdict_says_which_positions_are_shared(query: str, cost: Cost) -> None:
    assert verdict(xpath(query)).cost is cost
