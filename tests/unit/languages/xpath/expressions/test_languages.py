"""``lang()`` by the examples of section 4.3, and where they are silent."""

import pytest

from penstock.languages.xpath import xpath
from penstock_testing.reference import evaluate
from penstock_testing.tree import parse


@pytest.mark.parametrize(
    ("document", "language", "is_spoken"),
    [
        ('<a xml:lang="en"/>', "en", True),
        ('<r xml:lang="en"><a/></r>', "en", True),
        ('<a xml:lang="EN"/>', "en", True),
        ('<a xml:lang="en-us"/>', "EN", True),
        ('<a xml:lang="en-us"/>', "en-us", True),
        ('<a xml:lang="en"/>', "en-us", False),
        ('<a xml:lang="english"/>', "en", False),
        ('<r xml:lang="en"><a xml:lang="de"/></r>', "en", False),
        ('<r xml:lang="en"><a xml:lang=""/></r>', "en", False),
        ("<a/>", "en", False),
        ("<a/>", "", False),
        ('<a xml:lang=""/>', "", True),
        ('<a lang="en"/>', "en", False),
        ('<a xml:lang="ÄÖ"/>', "äö", False),
    ],
)
def test_the_nearest_language_counts(document: str, language: str, is_spoken: bool) -> None:
    query = xpath("boolean(//a[lang($l)])", variables={"l": language})
    assert evaluate(query, parse(document)) is is_spoken


def test_the_language_may_be_computed_at_the_node() -> None:
    query = xpath("count(//a[lang(@of)])")
    tree = parse('<r xml:lang="de"><a of="de"/><a of="en"/><a of="en" xml:lang="en-gb"/></r>')
    assert evaluate(query, tree) == 2
