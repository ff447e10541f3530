"""A path that turns back, asked of the nodes it ends at."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.rewrites.backward_paths import turn_backward_paths
from penstock.twigs import Query, Selection
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse

DOCUMENT = parse(b"<r n='1'><a><b/>x<c><b n='2'/></c></a><a><c/><b>y</b><!--z--></a></r>")


def selection(text: str) -> tuple[Query, Selection]:
    query = xpath(text)
    assert isinstance(query.output, Selection)
    return query, query.output


@pytest.mark.parametrize(
    "text",
    [
        "//b[not(d)]/preceding-sibling::c[not(d)]",
        "//b/preceding::node()",
        "/r/a/b[not(following::b)]/ancestor-or-self::node()",
        "//c/preceding-sibling::b/following::text()",
        "//text()/preceding::b/@n",
        "/a/preceding::b",
        "//comment()/preceding-sibling::*/parent::a",
    ],
)
def test_a_turned_path_selects_the_same_nodes(text: str) -> None:
    query, output = selection(text)
    turned = replace(output, expression=turn_backward_paths(output.expression))
    assert evaluate(replace(query, output=turned), DOCUMENT) == evaluate(query, DOCUMENT)


@pytest.mark.parametrize(
    "text",
    [
        "//b/preceding::c[1]",
        "//a[2]/preceding-sibling::a",
        "/preceding::b",
        "//b/@n/parent::node()",
    ],
)
def test_positions_attributes_and_starts_from_the_document_are_left_alone(text: str) -> None:
    _, output = selection(text + "[not(following::zz)]")
    assert turn_backward_paths(output.expression) == output.expression
