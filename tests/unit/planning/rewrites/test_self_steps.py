"""``self::`` steps become tests and conditions of the node before them."""

import pytest

from penstock.planning.rewrites.self_steps import meet, merge_self_steps
from penstock.twigs import NodeKind, NodeTest
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


def named(local: str | None, *uris: str) -> NodeTest:
    """Return the test of an element name."""
    return NodeTest(NodeKind.ELEMENT, local, uris or None)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        (NodeTest(NodeKind.ANY), named("a", ""), [named("a", "")]),
        (named("a", ""), NodeTest(NodeKind.ANY), [named("a", "")]),
        (named(None), named("a", "u"), [named("a", "u")]),
        (named("a"), named(None, "u"), [named("a", "u")]),
        (named("a", "u"), named("b", "u"), []),
        (named("a", "u"), named("a", "v"), []),
        (named("a", "u", "v"), named("a", "v", "w"), [named("a", "v")]),
        (named("a", "urn:1", "x"), named("a", "urn:*"), [named("a", "urn:1")]),
        (named("a", "urn:*"), named("a", "urn:*"), [named("a", "urn:*")]),
        (named("a", "urn:*"), named("a", "*:1"), [named("a", "urn:*"), named("a", "*:1")]),
        (named("a"), NodeTest(NodeKind.ATTRIBUTE, "a"), []),
        (NodeTest(NodeKind.TEXT), NodeTest(NodeKind.COMMENT), []),
    ],
)
def test_two_tests_meet_in_one_none_or_stay_two(
    left: NodeTest, right: NodeTest, both: list[NodeTest]
) -> None:
    assert list(meet(left, right)) == both


def test_results_are_kept() -> None:
    assert_results_kept(merge_self_steps, *[text for text, _ in EXPRESSIONS])
    assert_random_results_kept(merge_self_steps, seed=2)
