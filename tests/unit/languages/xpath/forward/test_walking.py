"""How many alternatives a path may have, and what stays an expression."""

import pytest

from penstock.languages.xpath import xpath
from penstock.languages.xpath.forward.walking import ALTERNATIVES_MAX
from penstock.twigs import Selection
from tests.unit.languages.xpath.forward.looking import forward_paths
from tests.unit.languages.xpath.lowered import has_no_twig


def test_the_number_of_alternatives_is_bounded() -> None:
    def either(count: int) -> str:
        return "//a[" + " or ".join(f"ancestor::n{i}" for i in range(count)) + "]"

    assert len(forward_paths(either(ALTERNATIVES_MAX))) == ALTERNATIVES_MAX
    assert has_no_twig(either(ALTERNATIVES_MAX + 1))


def test_a_union_may_have_more_alternatives_of_its_own() -> None:
    assert len(forward_paths(" | ".join(f"//a{i}/.." for i in range(20)))) == 20


def test_nested_cases_end_in_time() -> None:
    text = "//a" + "[.//b[ancestor::c or ancestor::d]" * 20 + "]" * 20
    assert isinstance(xpath(text).output, Selection)


@pytest.mark.parametrize(
    "text",
    [
        "//a/parent::*[1]",
        "//a[2]/..",
        "//a/ancestor::*[last()]",
        "//a[parent::b[position() = 1]]",
        "(//a/..)[1]",
        "//a/preceding-sibling::b/..",
        "//a[../following::b]",
        "id('x')/..",
        "//a/../namespace::*",
    ],
)
def test_positions_and_order_are_left_alone(text: str) -> None:
    assert has_no_twig(text)
