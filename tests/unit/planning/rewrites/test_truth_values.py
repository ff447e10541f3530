"""Truths inside values become case distinctions."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.truth_values import TRUTHS_MAX, split_truth_values
from penstock.twigs.queries import NoTwigError
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EXPRESSIONS = [
    ("/*[number(a = 'x') > 0]", ["/child::*[child::a[string(.) = 'x']]"]),
    ("/*[(a = 'x') < 1]", ["/child::*[not(child::a[string(.) = 'x'])]"]),
    (
        "/*[string(not(a)) = string(b)]",
        [
            "/child::*[not(child::a) and string(child::b) = 'true'"
            " or child::a and string(child::b) = 'false']"
        ],
    ),
    (
        "/*[concat(self::r[a], 'x') = name()]",
        [
            "/child::*[self::r[child::a] and concat(string(.), 'x') = name(.)"
            " or not(self::r[child::a]) and name(.) = 'x']"
        ],
    ),
    ("/*[name(self::r/b) = 'b']", ["/child::*[self::r][name(child::b) = 'b']"]),
    ("/*[concat(not(a), not(b)) = 'truefalse']", ["/child::*[not(child::a)][child::b]"]),
]


@pytest.mark.parametrize(("expression", "shape"), EXPRESSIONS)
def test_a_truth_moves_out_of_its_value(expression: str, shape: list[str]) -> None:
    assert rewritten(split_truth_values, expression) == shape


def test_the_number_of_cases_is_bounded() -> None:
    def concatenated(count: int) -> str:
        return f"/*[concat({', '.join(f'not(a{i})' for i in range(count))}) = 'x']"

    split_truth_values(xpath(concatenated(TRUTHS_MAX)))
    with pytest.raises(NoTwigError):
        split_truth_values(xpath(concatenated(TRUTHS_MAX + 1)))


def test_results_are_kept() -> None:
    assert_results_kept(split_truth_values, *[text for text, _ in EXPRESSIONS])
    assert_random_results_kept(split_truth_values, seed=4)
