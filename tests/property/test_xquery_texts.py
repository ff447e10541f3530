"""Any text is a query of XQuery or gets an error with a place; a printed query asks the same."""

from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import QUERY_CODES, QueryError
from penstock.languages.xquery import xquery
from penstock.twigs import Query
from penstock.twigs.printing import print_query

QUERIES = [
    "for $b in //book[price < 11], $a in $b/author[1] where $a/last = 'x' return <p>{$b}: {$a}</p>",
    "<r a='{1 + 2}x' b=\"{{}}\">text &amp; &#x41;<!--c--><?d e?><![CDATA[<]]>{ 'a', <b/> }</r>",
    "declare function local:f($n as xs:integer) as xs:integer* { if ($n = 0) then () else "
    "local:f($n - 1), $n }; local:f(3)",
    "declare variable $x := (1, 2.5, 3e2); some $y in $x satisfies $y idiv 2 eq 1",
    "typeswitch (a/@b) case $t as text() return $t case xs:string* return 'x' default return ()",
    "for $i at $p in (1 to 9) stable order by -$i descending empty least, $p return $i mod 2",
    "element {concat('a', 'b')} { attribute c {1}, text {2}, comment {3}, document { <d/> } }",
    "declare boundary-space preserve; <a> {//b/(c | d)[position() = last()]} </a>",
    "count(/site//item[@id = $v][not(name)]/ancestor-or-self::*[2]) + string-length('it''s')",
    "(a union b) intersect (c except d), a is b, a << b, . castable as xs:date? and not(.)",
    "let $d as document-node(element(a))? := doc('x') return every $e in $d//*:e satisfies $e//f",
    "xquery version '1.0'; (: (: :) :) declare namespace p = 'u'; p:a/@p:*[. instance of node()]",
]
PIECES = [*"{}[]<>=,.'\"/*@$()&;:!|#%-+ \r\n7é\0", "//", "<<", "(:", ":)", "{{", "}}", "</a>", "<a"]
PIECES += ["<![CDATA[", "]]>", "<!--", "-->", "<?", "?>", "&#x0;", "&#99999999999;", "&lt;", "1e9"]
PIECES += [
    " return ",
    " for $x in ",
    " let $x := ",
    " if (",
    " then ",
    " else ",
    " to ",
    " cast as ",
]
PIECES += [" instance of ", " order by ", "xs:date", "p:a", "*:a", "..", "::", ":=", "$x", " and "]
PIECES += [
    "declare variable $x := ",
    "declare function local:f() {",
    "9" * 30,
    "\ud800",
    "xmlns='u'",
]
MUTATIONS = 10_000
SECONDS_MAX = 10
"""Time of the processor, a thousand times what one of these short texts takes."""


def mutated(random: Random) -> str:
    """Return a query with up to five mistakes."""
    text = random.choice(QUERIES)
    for _ in range(random.randint(0, 5)):
        at = random.randrange(len(text) + 1)
        match random.randrange(4):
            case 0:
                text = text[:at] + random.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[at + random.randint(1, 6) :]
            case 2:
                other = random.choice(QUERIES)
                start = random.randrange(len(other))
                text = text[:at] + other[start : start + random.randint(1, 30)] + text[at:]
            case _:
                start = random.randrange(len(text) + 1)
                text = text[:at] + text[start : start + random.randint(1, 12)] * 3 + text[at:]
    return text


def answer(text: str) -> Query | None:
    """Return the query that a text is; None after a look at the error if it is none."""
    try:
        return xquery(text, variables={"v": 1})
    except QueryError as error:
        rejection = error
    start, end = rejection.span
    assert 0 <= start <= end <= len(text)
    assert rejection.code in QUERY_CODES
    assert rejection.help
    assert str(rejection)
    return None


def is_reprinted(query: Query) -> bool:
    """Return whether the printed form can be read again: names with a URI in braces cannot."""
    return "namespace" not in query.text and "xmlns" not in query.text


@pytest.mark.parametrize("text", QUERIES)
def test_the_queries_that_are_mutated_are_queries(text: str) -> None:
    assert answer(text) is not None


def test_mutations_are_queries_or_errors_with_a_place() -> None:
    random = Random(15)
    accepted = reprinted = 0
    for _ in range(MUTATIONS):
        text = mutated(random)
        start = time.process_time()
        query = answer(text)
        assert time.process_time() - start < SECONDS_MAX, text
        accepted += query is not None
        if query is not None and is_reprinted(query):
            reprinted += 1
            assert xquery(print_query(query)) == query, text
    # Mutations that are all rejected would test the first line of the parser only.
    assert accepted > MUTATIONS // 10
    assert reprinted > accepted // 2


@given(st.text())
def test_any_text_is_a_query_or_an_error_with_a_place(text: str) -> None:
    answer(text)


@given(st.randoms(use_true_random=False))
def test_a_printed_query_asks_the_same(random: Random) -> None:
    query = answer(mutated(random))
    if query is not None and is_reprinted(query):
        again = xquery(print_query(query))
        assert again == query
        assert print_query(again) == print_query(query)
