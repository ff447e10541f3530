"""Queries that ask the same are the same afterwards."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.canonical_order import order_canonically
from penstock.planning.rewrites.slot_numbers import number_slots
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EQUAL = [
    ("/x[a and b]", "/x[b and a]"),
    ("/x[a][b]", "/x[b][a][b]"),
    ("/x[a or b or c]", "/x[c or (b or a)]"),
    ("/x[a = 1 and b = 2]", "/x[2 = b][1 = a]"),
    ("/x[a = 'p' or a = 'q']", "/x[a = 'q' or a = 'p']"),
    ("/a | /b", "/b | /a | /b"),
    ("/x[@a = @b]", "/x[@b = @a]"),
    ("/x[@a < @b]", "/x[@b > @a]"),
    ("/x[y[a and b] or z]", "/x[z or y[b and a]]"),
]


@pytest.mark.parametrize(("left", "right"), EQUAL)
def test_order_and_repetition_do_not_matter(left: str, right: str) -> None:
    first, second = [number_slots(order_canonically(xpath(text))) for text in (left, right)]
    assert first == second
    assert hash(first) == hash(second)


def test_queries_of_one_shape_differ_in_constants_only() -> None:
    first = number_slots(order_canonically(xpath("/x[b = 'p' and a = 'q']")))
    second = number_slots(order_canonically(xpath("/x[a = 'r' and b = 's']")))
    assert first.blocks == second.blocks
    assert (first.constants, second.constants) == (("q", "p"), ("r", "s"))


def test_different_constants_are_different_parts() -> None:
    assert rewritten(order_canonically, "/x[a = 'p' or a = 'q']") == [
        "/child::x[child::a[string(.) = 'p'] or child::a[string(.) = 'q']]"
    ]


def test_a_part_beside_its_negation_decides() -> None:
    assert rewritten(order_canonically, "/x[a = 1 and b and not(a = 1)]") == []
    assert rewritten(order_canonically, "/x[a or not(a)]") == ["/child::x"]


def test_what_is_in_order_is_the_same_object() -> None:
    query = order_canonically(xpath("/x[b or a]/y[c][a] | /a"))
    assert order_canonically(query) is query


def test_results_are_kept() -> None:
    assert_results_kept(order_canonically, *[text for pair in EQUAL for text in pair])
    assert_random_results_kept(order_canonically, seed=7)
