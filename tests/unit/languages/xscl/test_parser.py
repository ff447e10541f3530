"""The clauses of XSCL, and what is said where the text is none."""

import pytest

from penstock.errors import QUERY_CODES, QueryError
from penstock.languages.xscl import xscl
from penstock.languages.xscl.parser import BLOCKS_MAX, TERMS_MAX
from penstock.twigs import Event, Fragments, JoinKind


def refusal(text: str) -> tuple[str, str]:
    """Return the code of a refused query and the text that is underlined."""
    with pytest.raises(QueryError) as caught:
        xscl(text)
    assert caught.value.code in QUERY_CODES
    assert caught.value.help
    assert caught.value.text == text
    return caught.value.code, text[slice(*caught.value.span)]


def test_the_queries_of_the_paper_are_read_as_they_are_written() -> None:
    query = xscl(
        "S//book->x1[.//author->x2][.//title->x3]\n"
        "FOLLOWED BY{x2=x5 AND x3=x6, 3600}\n"
        "S//blog->x4[.//author->x5][.//title->x6]"
    )
    (join,) = query.joins
    assert join.kind is JoinKind.FOLLOWED_BY
    assert join.equalities == (("x2", "x5"), ("x3", "x6"))
    assert query.output == Event(("x1", "x4"))
    assert [block.stream for block in query.blocks] == ["S", "S"]


def test_a_variable_is_bound_by_an_arrow_or_by_as() -> None:
    assert xscl("S//a->x[b->y] JOIN{y = z, 1} S//c->z") == xscl(
        "S//a AS x[b AS y] JOIN{y = z, 1} S//c AS z"
    )


def test_predicates_may_stand_on_both_sides_of_a_variable() -> None:
    assert xscl("S//a[p]->x[q]").blocks == xscl("S//a[p][q]->x").blocks


def test_from_and_select_star_may_be_left_out() -> None:
    bare = xscl("S//a->x JOIN{x = y, 1} S//b->y")
    assert xscl("FROM S//a->x JOIN{x = y, 1} S//b->y") == bare
    assert xscl("SELECT * FROM S//a->x JOIN{x = y, 1} S//b->y") == bare


def test_sides_of_a_term_may_be_exchanged() -> None:
    one = xscl("S//a->x JOIN{x = y AND x < y, 1} S//b->y")
    assert xscl("S//a->x JOIN{y = x AND y > x, 1} S//b->y") == one


def test_a_bare_block_asks_for_nodes() -> None:
    assert xscl("S//a->x/b").output == Fragments("0")
    assert xscl("S//a->x").output == Fragments("x")
    assert xscl("S//a->x PUBLISH p").output == Event(("x",), "p")


def test_names_of_streams_may_be_quoted() -> None:
    query = xscl("'all the news'//a->x PUBLISH \"my stream\"")
    assert query.blocks[0].stream == "all the news"
    assert query.output == Event(("x",), "my stream")


def test_words_of_the_language_are_names_of_elements_too() -> None:
    query = xscl("S//JOIN->x[NOT->y] JOIN{y = z, 1} S//FROM/AND->z")
    assert query.joins[0].equalities == (("y", "z"),)


@pytest.mark.parametrize(
    ("window", "seconds"),
    [
        ("90", 90.0),
        ("90 s", 90.0),
        ("90s", 90.0),
        ("1.5 min", 90.0),
        ("2 h", 7200.0),
        ("7 days", 604_800.0),
        ("1 week", 604_800.0),
        ("250 ms", 0.25),
        ("5 us", 5e-6),
        ("0", 0.0),
        ("INF", None),
    ],
)
def test_windows_have_units(window: str, seconds: float | None) -> None:
    (join,) = xscl(f"S//a->x JOIN{{x = y, {window}}} S//b->y").joins
    assert join.window_seconds == seconds


@pytest.mark.parametrize(
    ("text", "code", "underlined"),
    [
        ("", "PQ0104", ""),
        ("//a->x", "PQ0401", "//"),
        ("S//a->", "PQ0104", ""),
        ("S//a->3", "PQ0103", "3"),
        ("S//a->x->y", "PQ0402", "->"),
        ("S//a->x[b->x]", "PQ0402", "x"),
        ("S//a->x JOIN{x = y, 1} S//b->x", "PQ0402", "x"),
        ("S//a->x JOIN S//b->y", "PQ0103", "S"),
        ("S//a->x JOIN{x = y} S//b->y", "PQ0406", "}"),
        ("S//a->x JOIN{x = y, 3 dys} S//b->y", "PQ0406", "dys"),
        ("S//a->x JOIN{x = y, 3 months} S//b->y", "PQ0406", "months"),
        ("S//a->x JOIN{x = y, 9999999999999} S//b->y", "PQ0406", "9999999999999"),
        ("S//a->x JOIN{x = y, -1} S//b->y", "PQ0103", "-"),
        ("S//a->x JOIN{x = y, 1 S//b->y", "PQ0406", "S"),
        ("S//a->x JOIN{x = y, 1}", "PQ0104", ""),
        ("S//a->x join{x = y, 1} S//b->y", "PQ0103", "join"),
        ("S//a->x FOLLOWED{x = y, 1} S//b->y", "PQ0103", "FOLLOWED"),
        ("S//a->x JOIN{x = y or x = z, 1} S//b->y", "PQ0412", "or"),
        ("S//a->x JOIN{x, 1} S//b->y", "PQ0103", ","),
        ("S//a->x JOIN{x = z, 1} S//b->y", "PQ0403", "z"),
        ("S//a->x JOIN{z = y, 1} S//b->y JOIN{x = z, 1} S//c->z", "PQ0403", "z"),
        ("S//a->x JOIN{x != y, 1} S//b->y", "PQ0405", "JOIN{x != y, 1}"),
        ("S//a->x[c->z] JOIN{x = z, 1} S//b->y", "PQ0405", "JOIN{x = z, 1}"),
        ("S//a->x JOIN{x = 'v', 1} S//b->y", "PQ0405", "JOIN{x = 'v', 1}"),
        ("S//a->x JOIN{1 = 2, 1} S//b->y", "PQ0409", "1 = 2"),
        ("S//a->x JOIN{x = count(y), 1} S//b->y", "PQ0409", "count(y)"),
        ("S//a->x JOIN{/x = y, 1} S//b->y", "PQ0409", "/x"),
        ("S//a->x JOIN{x[c->d] = y, 1} S//b->y", "PQ0404", "c->d"),
        ("S//a->x[b or c->d]", "PQ0404", "c->d"),
        ("S//a->x[not(c->d)]", "PQ0404", "c->d"),
        ("S//a->x[c->d = 1]", "PQ0404", "c->d"),
        ("S//a->x[//c->d]", "PQ0404", "//c->d"),
        ("S//a->x NOT FOLLOWED BY{x/k = y, 1} S//b->y", "PQ0413", "x/k = y"),
        ("SELECT y FROM S//a->x NOT FOLLOWED BY{x = y, 1} S//b->y", "PQ0408", "y"),
        ("SELECT z FROM S//a->x", "PQ0403", "z"),
        ("SELECT x/b FROM S//a->x", "PQ0411", "/"),
        ("SELECT x S//a->x", "PQ0103", "S"),
        ("SELECT FROM S//a->x", "PQ0103", "FROM"),
        ("S//a->x PUBLISH", "PQ0104", ""),
        ("S//a->x PUBLISH p q", "PQ0103", "q"),
        ("S//a[b AND c]", "PQ0103", "AND"),
        ("S//a/..->x", "PQ0414", "S//a/..->x"),
        ("S//p:a->x", "PQ0111", "p:a"),
        ("S//a[b = $k]->x", "PQ0115", "$k"),
        ("S//a->x # S", "PQ0101", "#"),
    ],
)
def test_a_mistake_is_underlined(text: str, code: str, underlined: str) -> None:
    assert refusal(text) == (code, underlined)


def test_prefixes_and_constants_are_those_of_xpath() -> None:
    query = xscl("S//p:a[@k = $k]->x", namespaces={"p": "urn:p"}, variables={"k": "v"})
    assert query.constants == ("v",)
    again = xscl(query.text, **query.options)
    assert again == query


def chain(blocks: int) -> str:
    later = [f" JOIN{{x0 = x{n}, 1}} S//a->x{n}" for n in range(1, blocks)]
    return "S//a->x0" + "".join(later)


def test_blocks_are_bounded() -> None:
    assert len(xscl(chain(BLOCKS_MAX)).blocks) == BLOCKS_MAX
    assert refusal(chain(BLOCKS_MAX + 1))[0] == "PQ0105"


def predicate(terms: int) -> str:
    joined = " AND ".join(["x = y"] * terms)
    return f"S//a->x JOIN{{{joined}, 1}} S//b->y"


def test_terms_are_bounded() -> None:
    assert xscl(predicate(TERMS_MAX)).joins[0].equalities == (("x", "y"),)
    assert refusal(predicate(TERMS_MAX + 1))[0] == "PQ0105"


def test_nesting_is_bounded() -> None:
    text = "S//a->x0"
    for number in range(1, 120):
        text += f"[b->x{number}"
    assert refusal(text + "]" * 119)[0] == "PQ0105"
    assert refusal(f"S//a->x JOIN{{x{'/b' * 150} = y, 1}} S//b->y")[0] == "PQ0105"
