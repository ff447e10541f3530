"""Operators bind as the grammar says, and comparisons do not chain."""

import pytest

from tests.unit.languages.xquery.asking import printed, rejected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("(1 + 2) * 3", "(1 + 2) * 3"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("8 idiv 3 mod 2 div 1", "((8 idiv 3) mod 2) div 1"),
        ("- 1 + + 2", "(-1) + (+2)"),
        ("--1", "-(-1)"),
        ("1 to 2 + 3", "1 to (2 + 3)"),
        ("1 < 2 or 3 = 4 and 5 ne 6", "(1 < 2) or ((3 = 4) and (5 ne 6))"),
        ("$a is $b", "$a is $b"),
        ("$a << $b and $b >> $a", "($a << $b) and ($b >> $a)"),
        ("a union b | c", "child::a | child::b | child::c"),
        ("a | b intersect c", "child::a | (child::b intersect child::c)"),
        ("a except b except c", "(child::a except child::b) except child::c"),
        ("1 + 2 instance of xs:integer", "1 + (2 instance of xs:integer)"),
        ("-1 cast as xs:double", "(-1) cast as xs:double"),
        ("1 cast as xs:string? castable as xs:date", "(1 cast as xs:string?) castable as xs:date"),
        (
            "(1, 2) treat as item()+ instance of node()*",
            "((1, 2) treat as item()+) instance of node()*",
        ),
        ("a and b and c", "child::a and child::b and child::c"),
        ("(a and b) and c", "(child::a and child::b) and child::c"),
        ("1, (2, 3), ()", "1, 2, 3"),
        ("()", "()"),
        ("a - b", "child::a - child::b"),
        ("a -b", "child::a - child::b"),
        ("a-b", "child::a-b"),
        ("a*b", "child::a * child::b"),
        ("* * *", "child::* * child::*"),
        ("div div div", "child::div div child::div"),
        ("and and and", "child::and and child::and"),
        ("if", "child::if"),
        ("return/for", "child::return/child::for"),
        ("ordered { a }", "child::a"),
        ("unordered { a, b }", "child::a, child::b"),
        ("(# local:fast yes #) { a }", "child::a"),
    ],
)
def test_operators_bind_as_the_grammar_says(text: str, form: str) -> None:
    sequence = {"a": 1, "b": 2}
    bound = "declare variable $a := 1; declare variable $b := 2; "
    result = printed(text, variables=sequence)
    assert result.removeprefix(bound) == form


@pytest.mark.parametrize(
    ("text", "underlined"),
    [
        ("1 = 2 = 3", "="),
        ("1 lt 2 lt 3", "lt"),
        ("1 to 2 to 3", "to"),
        ("1 instance of xs:integer instance of xs:integer", "instance"),
        ("1 cast as xs:string cast as xs:integer", "cast"),
        ("1 instance of xs:integer treat as xs:integer", "treat"),
        ("1 +", ""),
        ("1 + * 2", "2"),
        ("1 eq", ""),
        ("1 instance of", ""),
        ("1 == 2", "="),
        ("1 && 2", "&"),
        ("cast as xs:string", "as"),
    ],
)
def test_a_misplaced_operator_is_underlined(text: str, underlined: str) -> None:
    code, xquery_code, found = rejected(text)
    assert code in ("PQ0103", "PQ0104")
    assert (xquery_code, found) == ("XPST0003", underlined)


def test_a_chain_of_and_may_be_long_one_of_sums_may_not() -> None:
    assert printed(" and ".join(["a"] * 5000)).count("and") == 4999
    assert rejected("+".join(["1"] * 60))[0] == "PQ0105"
