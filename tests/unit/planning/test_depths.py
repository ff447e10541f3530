"""Depths: which element of a query may be the one that never ends."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.depths import looks_back, lowest_depth, may_select_endless
from penstock.twigs import Selection
from penstock.twigs import expressions as x
from penstock.twigs.queries import as_expression


def nodes_of(text: str) -> x.Nodes:
    output = as_expression(xpath(text)).output
    assert isinstance(output, Selection)
    assert isinstance(output.expression, x.Nodes)
    return output.expression


@pytest.mark.parametrize(
    ("text", "depth"),
    [
        ("/", 0),
        ("/r", 1),
        ("/*", 1),
        ("//*", 1),
        ("//a", 2),
        ("//a[1]", 2),
        ("/r/a", 2),
        ("/*/*/a", 3),
        ("//g/a", 3),
        ("/r/a/..", 1),
        ("//a/ancestor::*", 0),
        ("//a/ancestor::g", 2),
        ("/r/following::*", 2),
        ("/r/g/a | /r", 1),
        ("(/r/g/a)[1]", 3),
    ],
)
def test_nodes_lie_at_least_so_deep(text: str, depth: int) -> None:
    assert lowest_depth(nodes_of(text)) == depth


@pytest.mark.parametrize(
    ("text", "is_back", "is_endless"),
    [
        ("//a[1]", False, False),
        ("//*[1]", False, True),
        ("//*[1]/@n", False, False),
        ("/r/*/a[1]", False, False),
        ("//a/ancestor::g", True, False),
        ("/r/a/b/preceding-sibling::*", True, True),
        ("/r/a[1] | //a/..", True, True),
    ],
)
def test_candidates_may_be_the_endless_element(text: str, is_back: bool, is_endless: bool) -> None:
    nodes = nodes_of(text)
    assert (looks_back(nodes), may_select_endless(nodes)) == (is_back, is_endless)
