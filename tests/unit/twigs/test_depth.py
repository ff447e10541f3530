"""Depth counts what is inside each other, not what stands side by side."""

import pytest

from penstock.languages.xpath import xpath
from penstock.twigs.depth import depth_of


@pytest.mark.parametrize(
    ("deeper", "text"),
    [
        ("/a/b/c", "/a/b"),
        ("/a[b/c]", "/a[b]"),
        ("/a[not(b)]", "/a[b]"),
        ("/a[contains(concat(b, 'x'), 'y')]", "/a[contains(b, 'y')]"),
        ("string(a/b)", "string(a)"),
        ("/a[string(b/c) = 'x']", "/a[string(b) = 'x']"),
    ],
)
def test_a_level_more_is_deeper(deeper: str, text: str) -> None:
    assert depth_of(xpath(deeper)) > depth_of(xpath(text))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("//a//b", "/a/b"),
        ("/a | /b", "/a"),
        ("/a[b or c or d]", "/a[b or c]"),
        ("/a[b = 'x']/c[d = 'y']", "/a/c[d = 'y']"),
    ],
)
def test_breadth_is_no_depth(left: str, right: str) -> None:
    assert depth_of(xpath(left)) == depth_of(xpath(right))
