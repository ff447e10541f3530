"""``//`` and the step after it become one step."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.descendants import join_descendant_steps
from tests.unit.planning.results import (
    assert_random_results_kept,
    assert_results_kept,
    rewritten,
)

EXPRESSIONS = [
    ("//a", "/descendant::a"),
    ("//a//b", "/descendant::a/descendant::b"),
    (".//a", "/descendant::a"),
    ("//descendant::a", "/descendant::a"),
    ("//descendant-or-self::a", "/descendant::a"),
    ("//descendant-or-self::node()//a", "/descendant::a"),
    ("//self::a", "/descendant::a"),
    ("//./a", "/descendant::a"),
    ("/a//self::b", "/child::a/descendant::b"),
    ("/a/node()/descendant-or-self::b", "/child::a/descendant::b"),
    ("/a/descendant::node()/descendant-or-self::b", "/child::a/descendant::b"),
    ("/r[.//a]", "/child::r[descendant::a]"),
    ("/r[a//b = 'x']", "/child::r[child::a[descendant::b[string(.) = 'x']]]"),
    ("string(//a)", "string(descendant::a)"),
    ("string(//descendant-or-self::*[b])", "string(descendant::*[child::b])"),
    ("boolean(//self::a)", "descendant::a"),
    ("/r[contains(.//self::a, 'x')]", "/child::r[boolean(contains(string(descendant::a), 'x'))]"),
    ("/*//self::a", "/child::*/descendant-or-self::a"),
]
UNCHANGED = [
    ("//@k", "/descendant-or-self::node()/attribute::k"),
    ("/descendant-or-self::node()[a]/b", "/descendant-or-self::node()[child::a]/child::b"),
    ("/descendant::node()/a", "/descendant::node()/child::a"),
    ("/descendant-or-self::*/a", "/descendant::*/child::a"),
    ("//node()", "/descendant::node()"),
    ("/descendant-or-self::node()", "/descendant-or-self::node()"),
]


@pytest.mark.parametrize(("expression", "shape"), EXPRESSIONS)
def test_two_steps_become_one(expression: str, shape: str) -> None:
    assert rewritten(join_descendant_steps, expression) == [shape]


@pytest.mark.parametrize(("expression", "shape"), UNCHANGED)
def test_a_step_that_tests_guards_or_binds_stays(expression: str, shape: str) -> None:
    assert rewritten(join_descendant_steps, expression) == [shape]


def test_a_query_without_such_steps_is_the_same_object() -> None:
    query = xpath("/a/b[c]")
    assert join_descendant_steps(query) is query


def test_results_are_kept() -> None:
    texts = [text for text, _ in EXPRESSIONS + UNCHANGED]
    assert_results_kept(join_descendant_steps, *texts)
    assert_random_results_kept(join_descendant_steps, seed=1)
