"""``self::`` steps become tests and conditions of the node before them."""

import pytest

from penstock.planning.rewrites.self_steps import merge_self_steps
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EXPRESSIONS = [
    ("/*/self::a", ["/child::a"]),
    ("/*/self::*/b", ["/child::*/child::b"]),
    ("/a/self::b", []),
    ("/a/self::node()[b]", ["/child::a[child::b]"]),
    ("/a/self::a[b]/c", ["/child::a[child::b]/child::c"]),
    ("/node()/self::text()", []),
    ("/r/node()/self::text()", ["/child::r/child::text()"]),
    ("/*[self::a]", ["/child::a"]),
    ("/*[self::a[b]][c]", ["/child::a[child::b][child::c]"]),
    ("/a[self::b]", []),
    ("/*[self::a or self::b]", ["/child::*[self::a or self::b]"]),
    ("/*[self::* or b]", ["/child::*"]),
    ("/a[not(self::b)]", ["/child::a"]),
    ("/a[self::b or c]", ["/child::a[child::c]"]),
    ("/a[b[self::b = 'x']]", ["/child::a[child::b[string(.) = 'x']]"]),
    ("(/)[r]", ["[child::r]"]),
]


@pytest.mark.parametrize(("expression", "shape"), EXPRESSIONS)
def test_the_tests_of_both_steps_meet(expression: str, shape: list[str]) -> None:
    assert rewritten(merge_self_steps, expression) == shape


def test_results_are_kept() -> None:
    assert_results_kept(merge_self_steps, *[text for text, _ in EXPRESSIONS])
    assert_random_results_kept(merge_self_steps, seed=2)
