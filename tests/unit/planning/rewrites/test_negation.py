"""Negation stands directly above what a document decides."""

import pytest

from penstock.planning.rewrites.negation import push_negation
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EXPRESSIONS = [
    ("/*[not(not(a))]", ["/child::*[child::a]"]),
    ("/*[not(a and b)]", ["/child::*[not(child::a) or not(child::b)]"]),
    ("/*[not(a or not(b))]", ["/child::*[not(child::a)][child::b]"]),
    ("/*[not(a = 'x')]", ["/child::*[not(child::a[string(.) = 'x'])]"]),
    ("/*[not(string(a) = 'x')]", ["/child::*[string(child::a) != 'x']"]),
    ("/*[not(string(a) != 'x')]", ["/child::*[string(child::a) = 'x']"]),
    ("/*[not(number(a) < 2)]", ["/child::*[not(number(string(child::a)) < 2)]"]),
    ("/*[not(contains(a, 'x'))]", ["/child::*[not(boolean(contains(string(child::a), 'x')))]"]),
    ("/*[not(/r)]", ["/child::*[at-root(not(child::r))]"]),
    ("/*[a[not(b and not(c))]]", ["/child::*[child::a[not(child::b) or child::c]]"]),
    ("not(a or b)", ["not(child::a) and not(child::b)"]),
]


@pytest.mark.parametrize(("expression", "shape"), EXPRESSIONS)
def test_negation_moves_inwards(expression: str, shape: list[str]) -> None:
    assert rewritten(push_negation, expression) == shape


def test_results_are_kept() -> None:
    assert_results_kept(push_negation, *[text for text, _ in EXPRESSIONS])
    assert_random_results_kept(push_negation, seed=5)
