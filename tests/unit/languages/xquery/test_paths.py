"""Paths: every axis and test, what a slash takes on its right, where a context item is needed."""

import pytest

from tests.unit.languages.xquery.asking import error_of, printed, rejected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("/", "(/)"),
        ("/a", "/child::a"),
        ("//a", "/descendant::a"),
        ("a//b", "child::a/descendant::b"),
        ("//a[1]", "/descendant-or-self::node()/child::a[1]"),
        ("//a[b]", "/descendant::a[child::b]"),
        ("//a[b = 1][not(c)]", "/descendant::a[child::b = 1][not(child::c)]"),
        ("//a[count(b)]", "/descendant-or-self::node()/child::a[count(child::b)]"),
        ("//a[position() = 1]", "/descendant-or-self::node()/child::a[position() = 1]"),
        ("//a[b[1] = 2]", "/descendant::a[child::b[1] = 2]"),
        ("//a[b[last()]]", "/descendant::a[child::b[last()]]"),
        ("//a[last() and b]", "/descendant-or-self::node()/child::a[last() and child::b]"),
        ("//@a", "/descendant-or-self::node()/attribute::a"),
        ("//a//text()", "/descendant::a/descendant::text()"),
        (".", "."),
        ("..", "parent::node()"),
        ("../a", "parent::node()/child::a"),
        ("./a", "child::a"),
        ("a/.", "child::a/self::node()"),
        ("a/.[b]", "child::a/self::node()[child::b]"),
        (".//a", "descendant::a"),
        (".[a]", ".[child::a]"),
        ("@*", "attribute::*"),
        ("*:a", "child::*:a"),
        ("@*:a", "attribute::*:a"),
        ("@xml:lang", "attribute::xml:lang"),
        ("a.b-c_d", "child::a.b-c_d"),
        ("ancestor-or-self::a[2]", "ancestor-or-self::a[2]"),
        ("following-sibling::*/preceding::node()", "following-sibling::*/preceding::node()"),
        ("attribute(a)", "attribute::a"),
        ("attribute::attribute(a)", "attribute::a"),
        ("child::attribute()", "child::attribute()"),
        ("element(a)/element(*)", "child::a/child::*"),
        ("element(a, xs:untyped)", "child::a"),
        (
            "comment()|processing-instruction()",
            "child::comment() | child::processing-instruction()",
        ),
        ("processing-instruction(a)", 'child::processing-instruction("a")'),
        ("processing-instruction('a')", 'child::processing-instruction("a")'),
        ("self::document-node()", "self::document-node()"),
        (
            "self::document-node(element(a))",
            "self::document-node()[child::a and (count(child::*) = 1)]",
        ),
        ("a/(b, c)", "child::a/(child::b, child::c)"),
        ("a/(b)", "child::a/child::b"),
        ("a/(b/c)", "child::a/child::b/child::c"),
        ("a/(b)[1]", "child::a/((child::b)[1])"),
        ("(a/b)[1]", "(child::a/child::b)[1]"),
        ("(a)[1][2]", "(child::a)[1][2]"),
        ("((a)[1])[2]", "((child::a)[1])[2]"),
        ("a/string()", "child::a/string(.)"),
        ("a/name()[1]", "child::a/(name(.)[1])"),
        ("a/position()", "child::a/position()"),
        ("/count(.)", "/count(.)"),
        ("(1, 2)[. > 1]", "(1, 2)[. > 1]"),
        ("<a/>/b", "<a/>/child::b"),
        ("/<a/>", "/<a/>"),
        ("(/)/a", "/child::a"),
        ("(/) < 1", "(/) < 1"),
        ("a[b, c]", "child::a[child::b, child::c]"),
        ("a/text", "child::a/child::text"),
        ("element/attribute", "child::element/child::attribute"),
    ],
)
def test_a_path_is_written_out(text: str, form: str) -> None:
    assert printed(text) == form


@pytest.mark.parametrize(
    ("text", "code", "underlined"),
    [
        ("a/", "PQ0104", ""),
        ("//", "PQ0104", ""),
        ("a[", "PQ0104", ""),
        ("a[]", "PQ0103", "]"),
        ("a::b", "PQ0107", "a"),
        ("child::", "PQ0104", ""),
        ("@", "PQ0104", ""),
        ("/ < 1", "PQ0103", "<"),
        ("/ * 2", "PQ0103", "2"),
        ("a/]", "PQ0103", "]"),
        ("processing-instruction(p:a)", "PQ0103", "p:a"),
        ("p :a", "PQ0103", ":"),
    ],
)
def test_what_is_no_path_is_underlined(text: str, code: str, underlined: str) -> None:
    assert rejected(text) == (code, "XPST0003", underlined)


def test_the_namespace_axis_is_rejected_with_a_function_instead() -> None:
    error = error_of("//a/namespace::*")
    assert (error.code, error.xquery_code) == ("PQ0501", "XPST0010")
    assert "in-scope-prefixes" in error.help


def test_an_axis_that_is_misspelt_is_corrected() -> None:
    assert "descendant" in error_of("descendent::a").help


@pytest.mark.parametrize(
    ("body", "underlined"),
    [
        (".", "."),
        ("a", "a"),
        ("/", "/"),
        ("//a", "//"),
        ("position()", "position()"),
        ("string()", "string()"),
        ("lang('de')", "lang('de')"),
        ("if ($x) then last() else 1", "last()"),
    ],
)
def test_a_function_body_has_no_context_item(body: str, underlined: str) -> None:
    text = f"declare function local:f($x) {{ {body} }}; local:f(1)"
    assert rejected(text) == ("PQ0508", "XPDY0002", underlined)


@pytest.mark.parametrize("body", ["$x/a", "$x[. = 1]", "$x/string()", "$x/(/)", "$x/..[/]"])
def test_a_path_from_a_parameter_has_a_context_item(body: str) -> None:
    printed(f"declare function local:f($x) {{ {body} }}; local:f(1)")


def test_a_function_that_nothing_calls_may_need_a_context_item() -> None:
    assert (
        printed("declare function local:f() { local:g() }; declare function local:g() { . }; 1")
        == "1"
    )
    called = "declare function local:f() { local:g() }; declare function local:g() { . }; local:f()"
    assert rejected(called) == ("PQ0508", "XPDY0002", ".")
