"""Any text is a query or a QueryError that points into it."""

import pickle
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import QUERY_CODES, QueryError
from penstock.languages.xpath import parse, xpath
from penstock.languages.xpath.frontend import DEPTH_MAX
from penstock.languages.xpath.syntax import Expression
from penstock.planning.compile import compile_query
from penstock.planning.normalise import normalise
from penstock.twigs import Aggregate, Query, Selection
from penstock.twigs.printing import print_query
from penstock.twigs.queries import as_expression

PIECES = st.sampled_from(
    "a b * p:x p:* . .. @ / // [ ] ( ) | + - = != < <= > >= and or div mod 1 2.5 'x' \" $v".split()
    + "text() node() child:: self:: ancestor:: count( not( , :: contains( string()".split()
)
TEXTS = st.one_of(
    st.text(max_size=30),
    st.lists(PIECES, max_size=14).map(" ".join),
    st.lists(PIECES, max_size=14).map("".join),
)


def outcome(text: str, dialect: str) -> Query | QueryError:
    """Return the query or the error that a text gives."""
    try:
        return normalise(
            xpath(text, namespaces={"p": "urn:p"}, variables={"v": 1}, dialect=dialect)
        )
    except QueryError as error:
        return error


@given(TEXTS, st.sampled_from(["xpath", "xsq"]))
def test_any_text_is_a_query_or_a_query_error(text: str, dialect: str) -> None:
    found = outcome(text, dialect)
    if isinstance(found, QueryError):
        start, end = found.span
        assert 0 <= start <= end <= len(text)
        assert found.code in QUERY_CODES
        assert found.help
        assert str(found).startswith(found.code)
    else:
        assert print_query(found)


def spans(value: object) -> list[tuple[int, int]]:
    """Return the spans of a syntax tree."""
    found = []
    for name in getattr(value, "__dataclass_fields__", ()):
        part = getattr(value, name)
        if name in ("span", "axis_span", "name_span"):
            found.append(part)
        else:
            for inner in part if isinstance(part, tuple) else (part,):
                found += spans(inner)
    return found


@given(TEXTS)
def test_every_span_lies_within_the_text(text: str) -> None:
    try:
        expression: Expression = parse(text)
    except QueryError:
        return
    assert all(0 <= start <= end <= len(text) for start, end in spans(expression))


def test_queries_pickle() -> None:
    query = xpath("//a[b = 'x' and not(@c)]/d")
    assert pickle.loads(pickle.dumps(query)) == query


@pytest.mark.parametrize("step", ["/a", "//a", "/a[b]"])
def test_depth_is_bounded_and_what_is_within_can_be_normalised(step: str) -> None:
    normal = normalise(xpath(step * (DEPTH_MAX - 3)))
    assert normal == normalise(xpath(step * (DEPTH_MAX - 3)))
    assert hash(normal) == hash(pickle.loads(pickle.dumps(normal)))
    with pytest.raises(QueryError, match="PQ0105"):
        xpath(step * (DEPTH_MAX + 1))


@pytest.mark.parametrize(
    "text",
    [
        "//x[" + "not(a) = (" * 40 + "b" + ")" * 40 + "]",
        "(a | b)" + "[(a | b)" * 40 + "]" * 40,
        "//x[(" + " | ".join(f"@a{i}" for i in range(400)) + ") = (@b | @c | "
        + " | ".join(f"@d{i}" for i in range(400)) + ")]",
        "//x[" + "string(not(c)) = string(" * 20 + "d" + ")" * 20 + "]",
    ],
)  # fmt: skip
def test_a_short_text_that_stands_for_very_many_twigs_is_an_expression(text: str) -> None:
    query = outcome(text, "xpath")
    assert isinstance(query, Query)
    assert isinstance(query.output, Selection)
    assert len(compile_query(query)) < 20_000


def test_options_give_an_equal_query_again() -> None:
    options = {
        "namespaces": {"p": ["urn:1", "urn:*"]},
        "variables": {"v": 2, "w": "x"},
        "select": {"id": "@id"},
        "context": "/p:r[$v]",
    }
    query = xpath("//p:a[$w]", **options)
    assert query.options == options
    assert xpath(query.text, **query.options) == query


def test_twigs_can_be_had_as_an_expression() -> None:
    for text in ("//a[b = 'x']/c", "count(//a)", "string(/a)", "//a[//b]"):
        query = as_expression(xpath(text))
        assert isinstance(query.output, Selection)
        assert (query.text, query.options) == (text, {})


def test_a_running_aggregate_remains_one_as_an_expression() -> None:
    query = xpath("count(//a)")
    running = replace(query, output=Aggregate("count", "result", running=True))
    assert as_expression(running).output == replace(as_expression(query).output, running=True)


def test_a_long_list_of_alternatives_is_no_problem() -> None:
    text = "//x[" + " or ".join(f"@a = 'v{i}'" for i in range(3000)) + "]"
    assert len(normalise(xpath(text)).constants) == 3000
    text = " | ".join(f"//a{i}" for i in range(3000))
    assert len(normalise(xpath(text)).blocks[0].alternatives) == 3000
