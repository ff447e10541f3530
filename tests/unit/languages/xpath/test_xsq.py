"""The forms of XSQ mean what its papers say."""

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.twigs import Query


def xsq(text: str) -> Query:
    """Return a query in the dialect."""
    return xpath(text, dialect="xsq")


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        ("//author/count()", "count(//author)"),
        ("author/count()", "count(//author)"),
        ("/bib/book/price/sum()", "sum(/bib/book/price)"),
        ("//book//price/avg()", "avg(//book//price)"),
        ("//a/@b/max()", "max(//a/@b)"),
        ("title/text()", "//title/text()"),
        ("book/@id", "//book/@id"),
        ("@id", "//@id"),
        ("/book/title", "/book/title"),
        (
            "//pub[year > 2000]//book[author]//name/count()",
            "count(//pub[year > 2000]//book[author]//name)",
        ),
        ("//book[price@type = 'discount']", "//book[price/@type = 'discount']"),
        ("//a[b@c]", "//a[b/@c]"),
        (
            '/PLAY/ACT/SCENE/SPEECH[LINE contains "love"]/SPEAKER/text()',
            '/PLAY/ACT/SCENE/SPEECH[LINE[contains(., "love")]]/SPEAKER/text()',
        ),
        ("//a[@b contains 'x' and c]", "//a[@b[contains(., 'x')] and c]"),
        ("//a[text() contains 'x']", "//a[text()[contains(., 'x')]]"),
        ("//a[b AND c OR NOT(d)]", "//a[b and c or not(d)]"),
        ("//a[contains(b, 'x')]", "//a[contains(b, 'x')]"),
        ("//contains[contains contains 'x']", "//contains[contains[contains(., 'x')]]"),
        ("//a[b]", "//a[b]"),
        (".//a", ".//a"),
    ],
)
def test_a_form_of_the_dialect_has_a_plain_one(dialect: str, plain: str) -> None:
    assert xsq(dialect) == xpath(plain)


def test_the_axis_is_implied_at_the_first_step_only() -> None:
    assert xsq("a[b/c]/d") == xpath("//a[b/c]/d")


@pytest.mark.parametrize("text", ["//a/count()/b", "//a[b/count() = 1]", "//a/count() + 1"])
def test_an_output_function_stands_at_the_end(text: str) -> None:
    with pytest.raises(QueryError, match="PQ0103"):
        xsq(text)


@pytest.mark.parametrize("text", ["//a['x' contains 'y']", "//a[contains(b) contains 'y']"])
def test_infix_contains_needs_a_path(text: str) -> None:
    with pytest.raises(QueryError, match="`contains` needs a path"):
        xsq(text)


@pytest.mark.parametrize("text", ["//a/count()", "//a[b@c]", "//a[b contains 'x']"])
def test_plain_xpath_knows_none_of_it(text: str) -> None:
    with pytest.raises(QueryError):
        xpath(text)


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        ("//a[//b]", "//a[.//b]"),
        ("//a[//b[//c]//d]", "//a[.//b[.//c]//d]"),
        ("//a[not(//b = 2) and (//c or d)]", "//a[not(.//b = 2) and (.//c or d)]"),
        ("//a[count(//b) > 1]", "//a[count(.//b) > 1]"),
        ("//a[(//b)[2]]", "//a[(.//b)[2]]"),
        ("//a[//@b]", "//a[.//@b]"),
        ("//a[/b//c]", "//a[/b//c]"),
        ("//a[/descendant::b]", "//a[/descendant::b]"),
        ("//a[b]//c[//d]", "//a[b]//c[.//d]"),
        ("count(//a[//b])", "count(//a[.//b])"),
    ],
)
def test_a_predicate_starts_at_its_element(dialect: str, plain: str) -> None:
    assert xsq(dialect) == xpath(plain)


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        ("//a[d::b]", "//a[descendant::b]"),
        ("/d::a[p::b/a::c]", "/descendant::a[parent::b/ancestor::c]"),
        ("d[a = 1]/p/a", "//d[a = 1]/p/a"),
        ("//a::b", "//ancestor::b"),
    ],
)
def test_short_axes_have_long_names(dialect: str, plain: str) -> None:
    assert xsq(dialect) == xpath(plain)


@pytest.mark.parametrize(
    ("dialect", "plain"),
    [
        ("//a[@s = blue]", "//a[@s = 'blue']"),
        ("//a[(b = x OR c != y) and d]", "//a[(b = 'x' or c != 'y') and d]"),
        ("//a[b contains x]", "//a[b[contains(., 'x')]]"),
        ("//a[b = c/d]", "//a[b = c/d]"),
        ("//a[b = c + 1]", "//a[b = c + 1]"),
        ("//a[b = ./c]", "//a[b = ./c]"),
    ],
)
def test_a_word_that_is_compared_is_a_constant(dialect: str, plain: str) -> None:
    assert xsq(dialect) == xpath(plain)


@pytest.mark.parametrize("text", ["//a[b contains c/d]", "//a[b contains (c)]"])
def test_infix_contains_needs_a_constant(text: str) -> None:
    with pytest.raises(QueryError, match="needs a string on its right"):
        xsq(text)


@pytest.mark.parametrize("axis", ["d", "a", "p"])
def test_plain_xpath_has_no_short_axes(axis: str) -> None:
    with pytest.raises(QueryError, match="PQ0107"):
        xpath(f"//x[{axis}::y]")
