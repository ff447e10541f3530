"""Calls: the table of built-in functions, contexts made explicit, streams."""

import pytest

from penstock.languages.xquery import xquery
from penstock.languages.xquery.functions import COLLATED, CONSTRUCTORS, FUNCTIONS
from penstock.twigs import sequences as q
from tests.unit.languages.xquery.asking import error_of, printed, rejected

CODEPOINTS = "http://www.w3.org/2005/xpath-functions/collation/codepoint"


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_built_in_function_takes_as_many_arguments_as_the_table_says(name: str) -> None:
    arities = FUNCTIONS[name]
    collated = {arity + 1 for arity in arities[:5]} if name in COLLATED else set()
    for count in range(6):
        arguments = ["'x'"] * count
        if count in collated and count not in arities:
            arguments[-1] = f"'{CODEPOINTS}'"
        text = f"{name}({', '.join(arguments)})"
        if count in arities or count in collated:
            xquery(text)
        else:
            assert rejected(text) == ("PQ0113", "XPST0017", text)


@pytest.mark.parametrize("name", sorted(CONSTRUCTORS))
def test_a_constructor_function_takes_one_argument(name: str) -> None:
    if name != "QName":
        assert printed(f"xs:{name}(a)") == f"xs:{name}(child::a)"
    assert rejected(f"xs:{name}(1, 2)")[:2] == ("PQ0113", "XPST0017")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("name()", "name(.)"),
        ("a[string() = 'x']", 'child::a[string(.) = "x"]'),
        ("string-length()", "string-length(string(.))"),
        ("normalize-space()", "normalize-space(string(.))"),
        ("lang('de')", 'lang("de", .)'),
        ("root()", "root(.)"),
        ("fn:count(a)", "count(child::a)"),
        ("false()", "false()"),
        ("doc('a.xml')/b", 'doc("a.xml")/child::b'),
        ("document('a')", 'doc("a")'),
        ("collection('a')", 'stream("a")'),
        ("stream('a')", 'stream("a")'),
        ("declare variable $x := 'a'; doc($x)", 'declare variable $x := "a"; doc("a")'),
        (f"contains('a', 'b', '{CODEPOINTS}')", 'contains("a", "b")'),
        (f"max(a, '{CODEPOINTS}')", "max(child::a)"),
        ("default-collation()", f'"{CODEPOINTS}"'),
        ("xs:QName('a')", 'QName("", "a")'),
        ("declare namespace p = 'u'; xs:QName('p:a')", 'QName("u", "p:a")'),
        ("'xml:a' cast as xs:QName", 'QName("http://www.w3.org/XML/1998/namespace", "xml:a")'),
        ("'a:b:c' cast as xs:QName", '"a:b:c" cast as xs:QName'),
        ("'1' cast as xs:integer", "1"),
        ("'x' cast as xs:integer", '"x" cast as xs:integer'),
        ("'xs:a' castable as xs:QName", "true()"),
        ("'p:a' castable as xs:QName", "false()"),
        ("'1a' castable as xs:QName", "false()"),
        ("concat('a', 1, 2, 3)", 'concat("a", 1, 2, 3)'),
    ],
)
def test_a_call_is_written_out(text: str, form: str) -> None:
    assert printed(text) == form


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ("foo(1)", ("PQ0112", "XPST0017"), "foo"),
        ("local:foo(1)", ("PQ0112", "XPST0017"), "local:foo"),
        ("p:foo(1)", ("PQ0111", "XPST0081"), "p:foo"),
        ("xs:foo(1)", ("PQ0112", "XPST0017"), "xs:foo"),
        ("xs:int(1)", ("PQ0501", "XPST0017"), "xs:int"),
        ("xs:anyAtomicType(1)", ("PQ0112", "XPST0017"), "xs:anyAtomicType"),
        ("xs:QName('p:a')", ("PQ0111", "FONS0004"), "'p:a'"),
        ("doc-available('a')", ("PQ0501", "XPST0017"), "doc-available"),
        ("doc(a)", ("PQ0511", "XPST0003"), "a"),
        ("doc(concat('a', 'b'))", ("PQ0511", "XPST0003"), "concat('a', 'b')"),
        ("contains('a', 'b', 'c')", ("PQ0501", "XQST0076"), "'c'"),
        ("string-join('a')", ("PQ0113", "XPST0017"), "string-join('a')"),
        ("declare function local:f($x) { 1 }; local:f()", ("PQ0113", "XPST0017"), "local:f()"),
    ],
)
def test_a_call_that_does_not_fit_is_underlined(
    text: str, codes: tuple[str, str], underlined: str
) -> None:
    assert rejected(text) == (*codes, underlined)


def test_a_misspelt_function_is_corrected() -> None:
    assert "did you mean count()?" in error_of("cuont(a)").help
    own = "declare function local:price($x) { 1 }; local:prize(1)"
    assert "did you mean local:price()?" in error_of(own).help


def test_a_stream_may_be_named_by_an_external_variable() -> None:
    output = xquery("doc($s)/a", variables={"s": "orders"}).output
    assert isinstance(output, q.Sequences)
    assert output.body.base == q.Stream("orders")
