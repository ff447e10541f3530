"""Values of one attribute are looked at where the attribute is."""

import pytest

from penstock.planning.rewrites.single_values import place_single_values
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EXPRESSIONS = [
    ("//*[contains(@k, 'x')]", "[attribute::k[boolean(contains(string(.), 'x'))]]"),
    ("//*[string(@k) = 'x']", "[attribute::k[string(.) = 'x']]"),
    ("//*[number(@k) < 3]", "[attribute::k[number(string(.)) < 3]]"),
    ("//*[string-length(@k) > 0]", "[attribute::k[string-length(string(.)) > 0]]"),
    ("//*[string(@k) != 'x']", "[not(attribute::k[not(string(.) != 'x')])]"),
    ("//*[string-length(@k) = 0]", "[not(attribute::k[not(string-length(string(.)) = 0)])]"),
    ("//*[string(@k) = '']", "[not(attribute::k[not(string(.) = '')])]"),
    ("//*[string(@k)]", "[attribute::k[boolean(string(.))]]"),
    ("//*[string(@k[. != '1']) = 'x']", "[attribute::k[string(.) != '1'][string(.) = 'x']]"),
    ("//*[string(self::a) = 'x']", "[self::a[string(.) = 'x']]"),
    ("//*[string(self::b/@k) = '1']", "[self::b[attribute::k[string(.) = '1']]]"),
]
UNCHANGED = [
    ("//*[contains(a, 'x')]", "[boolean(contains(string(child::a), 'x'))]"),
    ("//*[contains(@*, 'x')]", "[boolean(contains(string(attribute::*), 'x'))]"),
    ("//*[contains(., 'x')]", "[boolean(contains(string(.), 'x'))]"),
    ("//*[name(@k) = 'k']", "[name(attribute::k) = 'k']"),
    ("//*[concat(@k, @n) = 'x']", "[concat(string(attribute::k), string(attribute::n)) = 'x']"),
]


@pytest.mark.parametrize(("expression", "shape"), EXPRESSIONS + UNCHANGED)
def test_a_comparison_moves_to_the_only_node_it_reads(expression: str, shape: str) -> None:
    assert rewritten(place_single_values, expression) == ["/descendant::*" + shape]


def test_results_are_kept() -> None:
    assert_results_kept(place_single_values, *[text for text, _ in EXPRESSIONS + UNCHANGED])
    assert_random_results_kept(place_single_values, seed=10)
