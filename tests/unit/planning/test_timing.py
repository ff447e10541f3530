"""Conditions are decided at the start of their node, or by its content."""

import pytest

from penstock.languages.xpath import xpath
from penstock.planning.timing import Moment, moment_of


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("/a[@b]", Moment.START),
        ("/a[@b = 'x' and not(@c > 1)]", Moment.START),
        ("/a[name() = 'a']", Moment.START),
        ("/a[contains(@b, 'x')]", Moment.START),
        ("/a[name(@*) = 'b']", Moment.START),
        ("/a/text()[. = 'x']", Moment.START),
        ("/a/@b[. = 'x']", Moment.START),
        ("/a[self::*[@b]]", Moment.START),
        ("/a[b]", Moment.END),
        ("/a[not(b)]", Moment.END),
        ("/a[@b or c]", Moment.END),
        ("/a[. = 'x']", Moment.END),
        ("/a[string(b) = 'x']", Moment.END),
        ("/a[self::*[b]]", Moment.END),
        ("/a[name(b) = 'x']", Moment.END),
        ("/a/node()[. = 'x']", Moment.END),
    ],
)
def test_attributes_and_names_come_first(text: str, moment: Moment) -> None:
    node = xpath(text).blocks[0].alternatives[0]
    while node.branches:
        node = node.branches[0].node
    assert moment_of(node.where, node.test.kind) is moment
