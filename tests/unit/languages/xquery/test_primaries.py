"""Literals, variables, calls and computed constructors."""

import pytest

from penstock.languages.xquery import xquery
from penstock.twigs import sequences as q
from tests.unit.languages.xquery.asking import error_of, printed, rejected


def body(text: str) -> q.Item:
    output = xquery(text).output
    assert isinstance(output, q.Sequences)
    return output.body


@pytest.mark.parametrize(
    ("text", "kind", "canonical"),
    [
        ("1", "integer", "1"),
        ("007", "integer", "7"),
        ("9223372036854775807", "integer", "9223372036854775807"),
        ("1.50", "decimal", "1.5"),
        (".5", "decimal", "0.5"),
        ("5.", "decimal", "5"),
        ("1e3", "double", "1000"),
        ("1.5E-10", "double", "1.5E-10"),
        ("1e1000", "double", "INF"),
        ("1e6", "double", "1.0E6"),
        ("0e0", "double", "0"),
        ("123456.789e0", "double", "123456.789"),
        ("'a''b'", "string", "a'b"),
        ('"a""b\'c"', "string", "a\"b'c"),
        ("'&lt;&#65;&#x42;&amp;amp;'", "string", "<AB&amp;"),
        ("'a\r\nb\rc&#xD;'", "string", "a\nb\nc\r"),
        ("''", "string", ""),
        ("true()", "boolean", "true"),
        ("xs:date('2024-02-29')", "date", "2024-02-29"),
        ("xs:dateTime('2024-02-29T12:00:00Z')", "dateTime", "2024-02-29T12:00:00Z"),
        ("xs:double('INF')", "double", "INF"),
        ("xs:untypedAtomic(' x ')", "untypedAtomic", " x "),
        ("xs:integer(' -5 ')", "integer", "-5"),
    ],
)
def test_a_literal_has_its_type_and_canonical_text(text: str, kind: str, canonical: str) -> None:
    assert body(text) == q.Atomic(kind, canonical)


@pytest.mark.parametrize(
    "text",
    ["xs:date('2023-02-29')", "xs:integer('x')", "xs:time('25:00:00')", "xs:decimal('1e3')"],
)
def test_a_cast_that_fails_fails_at_evaluation(text: str) -> None:
    assert printed(text) == text.replace("'", '"')


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ("9223372036854775808", ("PQ0510", "FOAR0002"), "9223372036854775808"),
        ("1" + "0" * 30 + ".5", ("PQ0510", "FOAR0002"), "1" + "0" * 30 + ".5"),
        ("1a", ("PQ0103", "XPST0003"), "1a"),
        ("1div 2", ("PQ0103", "XPST0003"), "1d"),
        ("1e", ("PQ0103", "XPST0003"), "1e"),
        ("'a", ("PQ0102", "XPST0003"), "'a"),
        ('"a""', ("PQ0102", "XPST0003"), '"a""'),
        ("(: a (: b :)", ("PQ0102", "XPST0003"), "(: a (: b :)"),
        ("1 :)", ("PQ0103", "XPST0003"), ":"),
        ("'&'", ("PQ0503", "XPST0003"), "&"),
        ("'&#x;'", ("PQ0503", "XPST0003"), "&"),
        ("'&#x0;'", ("PQ0503", "XQST0090"), "&#x0;"),
        ("\x00", ("PQ0101", "XPST0003"), "\x00"),
        ("\ud800", ("PQ0101", "XPST0003"), "\ud800"),
        ("~", ("PQ0103", "XPST0003"), "~"),
        ("£", ("PQ0101", "XPST0003"), "£"),
        ("(1", ("PQ0104", "XPST0003"), ""),
        ("f(1,)", ("PQ0103", "XPST0003"), ")"),
        ("", ("PQ0104", "XPST0003"), ""),
        ("(: only a comment :)", ("PQ0104", "XPST0003"), ""),
        ("1;", ("PQ0103", "XPST0003"), ";"),
        ("$", ("PQ0104", "XPST0003"), ""),
        ("item()", ("PQ0103", "XPST0003"), "item"),
        ("empty-sequence()", ("PQ0103", "XPST0003"), "empty-sequence"),
        ("(# fast #) { 1 }", ("PQ0111", "XPST0081"), "fast"),
        ("(# p:fast #) { 1 }", ("PQ0111", "XPST0081"), "p:fast"),
        ("(# local:fast #) { }", ("PQ0501", "XQST0079"), "(# local:fast #) {"),
        ("(# local:fast", ("PQ0102", "XPST0003"), "(#"),
    ],
)
def test_what_is_no_literal_is_underlined(
    text: str, codes: tuple[str, str], underlined: str
) -> None:
    assert rejected(text) == (*codes, underlined)


def test_comments_nest_and_stand_between_all_tokens() -> None:
    text = "(: a (: b :) :)for(::)$x(::)in(::)1(: '\" :)return(::)$x"
    assert printed(text) == "for $x in 1 return $x"


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("element a {1, 2}", "<a>{1, 2}</a>"),
        ("element a {}", "<a/>"),
        ("element {'a'} {}", "<a/>"),
        ("element {'p:a'} {}", 'element { "p:a" } { }'),
        ("element {concat('a', 'b')} {1}", 'element { concat("a", "b") } { 1 }'),
        ("attribute a {1}", "attribute a { 1 }"),
        ("attribute a {}", "attribute a { () }"),
        ("attribute {$n} {1, 2}", "attribute { $n } { 1, 2 }"),
        ("text {1, 2}", "text { 1, 2 }"),
        ("comment {'a'}", 'comment { "a" }'),
        ("processing-instruction a {1}", "processing-instruction a { 1 }"),
        ("processing-instruction {$n} {1}", "processing-instruction { $n } { 1 }"),
        ("document {<a/>}", "document { <a/> }"),
        (
            "element element {attribute attribute {text {'a'}}}",
            '<element attribute="{text { "a" }}"/>',
        ),
    ],
)
def test_a_computed_constructor_is_written_out(text: str, form: str) -> None:
    value = {"n": "name"}
    assert printed(text, variables=value).removeprefix('declare variable $n := "name"; ') == form


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ("element 'a' {1}", ("PQ0103", "XPST0003"), "'a'"),
        ("element a 1", ("PQ0103", "XPST0003"), "a"),
        ("text {}", ("PQ0103", "XPST0003"), "}"),
        ("document {}", ("PQ0103", "XPST0003"), "}"),
        ("text a {1}", ("PQ0103", "XPST0003"), "a"),
        ("attribute {} {1}", ("PQ0103", "XPST0003"), "}"),
        ("processing-instruction p:a {1}", ("PQ0103", "XPST0003"), "p:a"),
        ("element p:a {}", ("PQ0111", "XPST0081"), "p:a"),
    ],
)
def test_a_computed_constructor_that_is_none_is_underlined(
    text: str, codes: tuple[str, str], underlined: str
) -> None:
    assert rejected(text) == (*codes, underlined)


def test_a_computed_name_knows_the_namespaces_around_it() -> None:
    text = "declare namespace p = 'u'; <a xmlns:q='v'>{element {$n} {}}</a>"
    output = xquery(text, variables={"n": "p:x"}).output
    assert isinstance(output, q.Sequences)
    inner = output.body.content[0]
    assert {("p", "u"), ("q", "v")} <= set(inner.scope)
    assert inner.around == (("q", "v"),)


def test_the_end_of_a_literal_is_searched_in_vain_with_a_way_out() -> None:
    assert "double a quote" in error_of("'a").help
