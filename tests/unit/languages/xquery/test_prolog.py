"""The prolog: settings, variables in the order that they need each other, functions."""

import pytest

from penstock.languages.xquery import xquery
from penstock.twigs import sequences as q
from tests.unit.languages.xquery.asking import error_of, printed, rejected


def sequences(text: str) -> q.Sequences:
    output = xquery(text).output
    assert isinstance(output, q.Sequences)
    return output


@pytest.mark.parametrize(
    "prolog",
    [
        'xquery version "1.0";',
        'xquery version "1.0" encoding "utf-8";',
        "declare construction strip;",
        "declare ordering unordered;",
        "declare copy-namespaces preserve, inherit;",
        "declare option local:x 'y';",
        "declare default collation 'http://www.w3.org/2005/xpath-functions/collation/codepoint';",
        "declare namespace p = 'u'; declare default function namespace 'v';",
        "declare namespace local = 'u';",
        "declare base-uri 'http://example.org/';",
    ],
)
def test_settings_that_change_nothing_are_accepted(prolog: str) -> None:
    assert printed(f"{prolog} 1") == "1"


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ('xquery version "3.0"; 1', ("PQ0501", "XQST0031"), '"3.0"'),
        ('xquery version "1.0" encoding "ü"; 1', ("PQ0103", "XQST0087"), '"ü"'),
        ("declare namespace p = 'u'", ("PQ0104", "XPST0003"), ""),
        ("declare namespace p 'u'; 1", ("PQ0103", "XPST0003"), "'u'"),
        ("declare namespace p:q = 'u'; 1", ("PQ0103", "XPST0003"), "p:q"),
        (
            "declare function local:f() { 1 }; declare namespace p = 'u'; 1",
            ("PQ0103", "XPST0003"),
            "declare namespace",
        ),
        (
            "declare namespace p = 'u'; declare namespace p = 'v'; 1",
            ("PQ0505", "XQST0033"),
            "declare namespace p = 'v'",
        ),
        ("declare namespace xml = 'u'; 1", ("PQ0506", "XQST0070"), "declare namespace xml = 'u'"),
        ("declare namespace p = 'http://www.w3.org/2000/xmlns/'; 1", ("PQ0506", "XQST0070"), None),
        ("declare namespace fn = ''; fn:count(1)", ("PQ0111", "XPST0081"), "fn:count"),
        (
            "declare default element namespace 'u'; declare default element namespace 'u'; 1",
            ("PQ0505", "XQST0066"),
            None,
        ),
        (
            "declare boundary-space strip; declare boundary-space strip; 1",
            ("PQ0505", "XQST0068"),
            None,
        ),
        ("declare base-uri 'u'; declare base-uri 'u'; 1", ("PQ0505", "XQST0032"), None),
        ("declare construction strip; declare construction strip; 1", ("PQ0505", "XQST0067"), None),
        ("declare ordering ordered; declare ordering ordered; 1", ("PQ0505", "XQST0065"), None),
        (
            "declare default order empty least; declare default order empty least; 1",
            ("PQ0505", "XQST0069"),
            None,
        ),
        (
            "declare copy-namespaces preserve, inherit; "
            "declare copy-namespaces preserve, inherit; 1",
            ("PQ0505", "XQST0055"),
            None,
        ),
        ("declare copy-namespaces no-preserve, inherit; 1", ("PQ0501", "XPST0003"), None),
        ("declare default collation 'u'; 1", ("PQ0501", "XQST0038"), None),
        ("declare option x 'y'; 1", ("PQ0111", "XPST0081"), "x"),
        ("declare option p:x 'y'; 1", ("PQ0111", "XPST0081"), "p:x"),
        ("declare variable $x := 1; declare variable $x := 2; 1", ("PQ0505", "XQST0049"), "$x"),
        ("declare variable $x = 1; 1", ("PQ0103", "XPST0003"), "="),
        ("declare variable $x := $x; 1", ("PQ0507", "XQST0054"), "$x"),
        ("declare variable $x external; 1", ("PQ0115", "XPDY0002"), "$x"),
        (
            "declare function local:f() { 1 }; declare function local:f() { 2 }; 1",
            ("PQ0505", "XQST0034"),
            "local:f",
        ),
        ("declare function local:f($x, $x) { 1 }; 1", ("PQ0505", "XQST0039"), "$x"),
        ("declare function fn:f() { 1 }; 1", ("PQ0506", "XQST0045"), "fn:f"),
        ("declare function f() { 1 }; 1", ("PQ0506", "XQST0045"), "f"),
        (
            "declare default function namespace ''; declare function f() { 1 }; 1",
            ("PQ0506", "XQST0060"),
            "f",
        ),
        ("declare function local:f() { }; 1", ("PQ0103", "XPST0003"), "}"),
        ("declare function local:f() external; 1", ("PQ0501", "XPST0017"), "external"),
        ("declare function local:f() external;", ("PQ0104", "XPST0003"), ""),
        ("declare function local:f() { $y }; 1", ("PQ0115", "XPST0008"), "$y"),
        ("declare function local:f($y) { 1 }; $y", ("PQ0115", "XPST0008"), "$y"),
        ("declare function local:f() { local:g() }; 1", ("PQ0112", "XPST0017"), "local:g"),
        ("declare function local:f($x as xs:foo) { 1 }; 1", ("PQ0504", "XPST0051"), "xs:foo"),
        ("module namespace p = 'u'; 1", ("PQ0501", "XQST0016"), "module"),
        ("import module namespace p = 'u'; 1", ("PQ0501", "XQST0016"), "import"),
        ("import schema 'u'; 1", ("PQ0501", "XQST0009"), "import"),
    ],
)
def test_a_declaration_that_breaks_a_rule_is_underlined(
    text: str, codes: tuple[str, str], underlined: str | None
) -> None:
    code, xquery_code, found = rejected(text)
    assert (code, xquery_code) == codes
    assert underlined in (None, found)


def test_variables_come_behind_those_that_they_need() -> None:
    text = """
        declare variable $a := $b + local:f();
        declare variable $b := $c;
        declare variable $c := 1;
        declare function local:f() { $d };
        declare variable $d := $c;
        $a"""
    assert [variable.name for variable in sequences(text).variables] == ["c", "b", "d", "a"]


def test_variables_that_need_each_other_through_functions_are_rejected() -> None:
    text = """declare variable $a := local:f(); declare function local:f() { local:g() };
        declare function local:g() { if (1) then $a else local:f() }; 1"""
    assert rejected(text) == ("PQ0507", "XQST0054", "$a")


def test_functions_may_call_themselves_and_each_other() -> None:
    text = """
        declare function local:even($n as xs:integer) as xs:boolean
            { if ($n = 0) then true() else local:odd($n - 1) };
        declare function local:odd($n) { if ($n = 0) then false() else local:even($n - 1) };
        declare function local:odd() { 1 };
        local:odd(7), local:odd()"""
    functions = sequences(text).functions
    assert [(one.name.local, len(one.parameters)) for one in functions] == [
        ("odd", 1),
        ("odd", 0),
        ("even", 1),
    ]
    assert functions[2].body.otherwise == q.OwnCall(0, (functions[2].body.otherwise.arguments))


def test_functions_that_nothing_calls_are_checked_and_dropped() -> None:
    assert sequences("declare function local:f() { 1 }; 2").functions == ()
    assert rejected("declare function local:f() { $x }; 2")[1] == "XPST0008"


def test_names_of_variables_and_functions_may_have_a_namespace() -> None:
    text = """declare namespace p = 'u'; declare variable $p:x := 1; declare variable $x := 2;
        declare function p:f($p:y, $y) { $p:x + $x + $p:y }; p:f($p:x, 3)"""
    output = sequences(text)
    assert [variable.name for variable in output.variables] == ["x", "x_2"]
    assert output.functions[0].name == q.Name("f", "u", "p")


def test_a_default_function_namespace_hides_the_built_in_functions() -> None:
    text = "declare default function namespace 'u'; declare function count($x) { 1 }; count(2)"
    assert isinstance(sequences(text).body, q.OwnCall)
    assert rejected("declare default function namespace 'u'; count(2)")[1] == "XPST0017"
    assert printed("declare default function namespace 'u'; fn:count(2)") == "count(2)"


def test_the_base_uri_is_a_literal() -> None:
    assert printed("declare base-uri 'u:x'; static-base-uri()") == 'xs:anyURI("u:x")'
    assert printed("static-base-uri()") == "()"


def test_a_word_of_the_prolog_may_be_an_element() -> None:
    assert printed("declare/variable") == "child::declare/child::variable"
    assert printed("xquery, version") == "child::xquery, child::version"


def test_a_declaration_behind_a_function_says_where_it_belongs() -> None:
    text = "declare function local:f() { 1 }; declare namespace p = 'u'; 1"
    assert "beginning" in error_of(text).help
