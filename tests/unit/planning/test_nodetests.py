"""Two node tests meet in one test, in none, or stay two."""

import pytest

from penstock.planning.nodetests import meet
from penstock.twigs import NodeKind, NodeTest


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
