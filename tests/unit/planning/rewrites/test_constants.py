"""What does not depend on the document is computed before it comes."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.planning.rewrites.constants import fold_constants, fold_expression
from penstock.twigs import Query, Selection
from penstock.twigs.queries import as_expression
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_random_xpath_results_kept,
    assert_results_kept,
    rewritten,
    shapes,
)

EXPRESSIONS = [
    ("1 + 2 * 3", ["7"]),
    ("concat('a', 1, true())", ["'a1true'"]),
    ("1 = 1", ["true()"]),
    ("'a' < 'b'", ["false()"]),
    ("not(1)", ["false()"]),
    ("/a[true()]", ["/child::a"]),
    ("/a[false()]", []),
    ("/a[false()]/b | /c", ["/child::c"]),
    ("/a[b[false()] or c]", ["/child::a[child::c]"]),
    ("/a['x']", ["/child::a"]),
    ("/a['']", []),
    ("/a[contains(b, '')]", ["/child::a"]),
    ("/a[starts-with(., '')]", ["/child::a"]),
    ("/a[substring-before(b, '') = '']", ["/child::a"]),
    ("/a[substring-after(b, '') = 'x']", ["/child::a[string(child::b) = 'x']"]),
    ("/a[translate(b, '', 'y') = 'x']", ["/child::a[string(child::b) = 'x']"]),
    ("/a[b < '2']", ["/child::a[child::b[number(string(.)) < 2]]"]),
    ("/a[b = number('x')]", []),
    ("/a[b != number('x')]", ["/child::a[child::b]"]),
    ("/a[string(b[false()]) = '']", ["/child::a"]),
    ("/a[string(string(b)) = 'x']", ["/child::a[string(child::b) = 'x']"]),
    ("/a[not(b and false())]", ["/child::a"]),
    ("boolean(/a[1 = 2])", ["false()"]),
    ("/a[concat('x', 'y') = b]", ["/child::a[child::b[string(.) = 'xy']]"]),
    ("string(1 div 0)", ["'Infinity'"]),
]


@pytest.mark.parametrize(("expression", "shape"), EXPRESSIONS)
def test_constants_are_folded(expression: str, shape: list[str]) -> None:
    assert rewritten(fold_constants, expression) == shape


def test_a_query_without_constants_to_fold_is_the_same_object() -> None:
    query = xpath("/a[b = 'x' and not(c)]/d")
    assert fold_constants(query) is query


def test_results_are_kept() -> None:
    assert_results_kept(fold_constants, *[text for text, _ in EXPRESSIONS])
    assert_random_results_kept(fold_constants, seed=3)


def fold_general(query: Query) -> Query:
    """Return the query as an expression, folded."""
    general = as_expression(query)
    assert isinstance(general.output, Selection)
    return fold_expression(general, general.output)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[1 + 1]", "/descendant-or-self::node()/child::a[position() = 2]"),
        ("//a[..][2 > 1]", "/descendant::a[parent::node()]"),
        ("//a[.. and true()]", "/descendant::a[parent::node()]"),
        ("//a[.. or true()]/..", "/descendant::a/parent::node()"),
        ("//a[.. and false()]", "/descendant::a[false()]"),
        ("//a[not(.. and false())]", "/descendant::a"),
        ("(//a/..)[true()]", "/descendant::a/parent::node()"),
        ("//a[.. and not(true())]", "/descendant::a[false()]"),
        (
            "//a[(.. and @b) and @c]",
            "/descendant::a[parent::node() and attribute::b and attribute::c]",
        ),
        ("//a[not(not(..))]", "/descendant::a[parent::node()]"),
        ("//a[.. = concat('x', 'y')]", "/descendant::a[parent::node() = 'xy']"),
    ],
)
def test_constants_of_expressions_are_computed(text: str, expected: str) -> None:
    assert shapes(fold_general(xpath(text))) == [expected]


def test_each_mention_of_a_constant_has_its_own_slot() -> None:
    query = normalise(xpath("//a[.. = $x or .. = $x][lang('EN')]", variables={"x": "v"}))
    assert query.constants[:4] == ("v", "v", 1.0, 1.0)
    assert "en" in query.constants
    assert "EN" not in query.constants


def test_results_of_expressions_are_kept() -> None:
    assert_random_xpath_results_kept(fold_general, seed=8)
