"""Constants of expressions are computed, and numbered as they are mentioned."""

import pytest

from penstock.languages.xpath import xpath
from penstock.languages.xpath.frontend import as_expression
from penstock.planning.normalise import normalise
from penstock.planning.rewrites.expression_constants import fold_expression
from penstock.twigs import Query, Selection
from tests.unit.planning.results import assert_random_xpath_results_kept, shapes


def fold(query: Query) -> Query:
    """Return the query as an expression, folded."""
    general = as_expression(query)
    assert isinstance(general.output, Selection)
    return fold_expression(general, general.output)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("//a[1 + 1]", "/descendant-or-self::node()/child::a[position() = 2]"),
        ("//a[..][2 > 1]", "/descendant::a[boolean(parent::node())]"),
        ("//a[.. and true()]", "/descendant::a[boolean(parent::node())]"),
        ("//a[.. or true()]/..", "/descendant::a/parent::node()"),
        ("//a[.. and false()]", "/descendant::a[False]"),
        ("//a[not(.. and false())]", "/descendant::a"),
        ("(//a/..)[true()]", "/descendant::a/parent::node()"),
        ("//a[.. and not(true())]", "/descendant::a[False]"),
        ("//a[.. = concat('x', 'y')]", "/descendant::a[parent::node() = 'xy']"),
    ],
)
def test_constants_are_computed(text: str, expected: str) -> None:
    assert shapes(fold(xpath(text))) == [expected]


def test_each_mention_of_a_constant_has_its_own_slot() -> None:
    query = normalise(xpath("//a[.. = $x or .. = $x][lang('EN')]", variables={"x": "v"}))
    assert query.constants[:4] == ("v", "v", 1.0, 1.0)
    assert "en" in query.constants
    assert "EN" not in query.constants


def test_results_are_kept() -> None:
    assert_random_xpath_results_kept(fold, seed=8)
