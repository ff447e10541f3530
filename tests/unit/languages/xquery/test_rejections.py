"""Constructs outside the supported part are rejected by name, underlined, with a way out."""

import pytest

from penstock.languages.xquery import xquery
from tests.unit.languages.xquery.asking import error_of


@pytest.mark.parametrize(
    ("text", "underlined", "way_out"),
    [
        ("for $x in 1 group by $x return 1", "group", "distinct-values"),
        ("for $x in 1 count $n return 1", "count", "at $number"),
        ("for tumbling window $w in 1 return 1", "for", "at $number"),
        ("for $x allowing empty in 1 return 1", "allowing", "empty"),
        ("switch (1) case 1 return 2 default return 3", "switch", "if"),
        ("1 + switch(1)", "switch", "if"),
        ("try { 1 } catch * { 2 }", "try", "castable"),
        ("'a' || 'b'", "||", "concat"),
        ("(1, 2) ! 3", "!", "for"),
        ("'a' => upper-case()", "=>", "call"),
        ("map { 'a': 1 }", "map", "elements"),
        ("array { 1 }", "array", "sequence"),
        ("function($x) { $x }", "function", "declare"),
        ("count#1", "#", "declare"),
        ("Q{u}a", "Q", "namespace"),
        ("namespace p { 'u' }", "namespace", "direct"),
        ("``[a]``", "`", "concat"),
        ("declare %private function local:f() { 1 }; 1", "%", "leave"),
        ("declare context item := 1; 1", "context", "variable"),
        ("declare decimal-format a x = '1'; 1", "decimal-format", "leave"),
        ("declare variable $x external := 1; $x", ":=", "variables"),
        ("typeswitch (1) case xs:integer | xs:string return 1 default return 2", "|", "two cases"),
        ("(if (1) then 2)", "if (1) then 2", "else ()"),
        ("insert node <a/> into b", "insert", "construct"),
        ("validate { <a/> }", "validate", "leave"),
        ("validate lax { <a/> }", "validate", "leave"),
        ("a[b contains text 'c']", "contains", "contains("),
    ],
)
def test_a_construct_outside_is_named_with_a_way_out(
    text: str, underlined: str, way_out: str
) -> None:
    error = error_of(text)
    start, end = error.span
    assert (error.code, text[start:end]) == ("PQ0501", underlined)
    assert error.xquery_code is not None
    assert way_out in error.help


@pytest.mark.parametrize(
    "text", ["try", "map/array", "switch", "group", "count", "a[contains]", "Q"]
)
def test_their_words_are_names_of_elements_elsewhere(text: str) -> None:
    xquery(text)
