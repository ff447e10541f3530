"""FLWOR, quantifiers, conditions and type switches."""

import pytest

from tests.unit.languages.xquery.asking import printed, rejected


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("for $a in b return $a", "for $a in child::b return $a"),
        (
            "for $a in 1, $b in 2 let $c := 3, $d := 4 return $d",
            "for $a in 1 for $b in 2 let $c := 3 let $d := 4 return $d",
        ),
        ("for $a as xs:integer at $i in 1 return $i", "for $a as xs:integer at $i in 1 return $i"),
        ("let $a as element(b)? := b return $a", "let $a as element(b)? := child::b return $a"),
        ("for $a in 1 where $a, 2 return 3", None),
        (
            "for $a in 1 where $a = 1 stable order by $a descending empty greatest, 2 ascending "
            "return 3",
            "for $a in 1 where $a = 1 order by $a descending empty greatest, 2 return 3",
        ),
        (
            "declare default order empty greatest; for $a in 1 order by $a, 2 empty least return 3",
            "for $a in 1 order by $a empty greatest, 2 return 3",
        ),
        (
            "for $a in 1 order by $a collation "
            "'http://www.w3.org/2005/xpath-functions/collation/codepoint' return 1",
            "for $a in 1 order by $a return 1",
        ),
        ("for $a in 1 return 2, 3", "for $a in 1 return 2, 3"),
        (
            "for $a in (1, 2) for $a in ($a, 3) let $a := $a return $a",
            "for $a in (1, 2) for $a_2 in ($a, 3) let $a_3 := $a_2 return $a_3",
        ),
        (
            "(for $a in 1 return $a, for $a in 2 return $a)",
            "for $a in 1 return $a, for $a_2 in 2 return $a_2",
        ),
        (
            "for $a_2 in 1, $a in 2, $a in 3 return 4",
            "for $a_2 in 1 for $a in 2 for $a_3 in 3 return 4",
        ),
        (
            "some $a in 1, $b in $a satisfies $a = $b",
            "some $a in 1, $b in $a satisfies $a = $b",
        ),
        (
            "every $a as node() in b satisfies c",
            "every $a as node() in child::b satisfies child::c",
        ),
        ("if (a, b) then c else d", "if (child::a, child::b) then child::c else child::d"),
        (
            "typeswitch (a) case $x as text() return $x case xs:integer+ return 1 "
            "default $y return $y",
            "typeswitch (child::a) case $x as text() return $x case xs:integer+ return 1 "
            "default $y return $y",
        ),
        (
            "for $for in for return let $let := let return $let",
            "for $for in child::for return let $let := child::let return $let",
        ),
    ],
)
def test_a_binding_expression_is_written_out(text: str, form: str | None) -> None:
    if form is None:
        assert rejected(text)[:2] == ("PQ0103", "XPST0003")
    else:
        assert printed(text) == form


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ("for $a in 1", ("PQ0104", "XPST0003"), ""),
        ("for $a return 1", ("PQ0103", "XPST0003"), "return"),
        ("for a in 1 return 1", ("PQ0103", "XPST0003"), "a"),
        ("for $a at b in 1 return 1", ("PQ0103", "XPST0003"), "b"),
        ("let $a = 1 return 1", ("PQ0103", "XPST0003"), "="),
        ("let $a in 1 return 1", ("PQ0103", "XPST0003"), "in"),
        ("for $a := 1 return 1", ("PQ0103", "XPST0003"), ":="),
        ("for $a in 1 order $a return 1", ("PQ0103", "XPST0003"), "$"),
        ("for $a in 1 order by $a empty return 1", ("PQ0103", "XPST0003"), "return"),
        ("for $a in 1 where 1 for $b in 2 return 1", ("PQ0103", "XPST0003"), "for"),
        ("FOR $a in 1 return 1", ("PQ0103", "XPST0003"), "$"),
        ("some $a in 1 return 1", ("PQ0103", "XPST0003"), "return"),
        ("every $a at $p in 1 satisfies 1", ("PQ0103", "XPST0003"), "at"),
        ("if (1) then 2 else", ("PQ0104", "XPST0003"), ""),
        ("if (1) else 2", ("PQ0103", "XPST0003"), "else"),
        ("typeswitch (1) default return 1", ("PQ0103", "XPST0003"), "default"),
        ("typeswitch (1) case xs:integer return 1", ("PQ0104", "XPST0003"), ""),
        ("for $a at $a in 1 return 1", ("PQ0505", "XQST0089"), "$a"),
        ("for $a at $p in 1 return 1, $p", ("PQ0115", "XPST0008"), "$p"),
        ("for $a in $a return 1", ("PQ0115", "XPST0008"), "$a"),
        ("let $a := $a return 1", ("PQ0115", "XPST0008"), "$a"),
        ("(for $a in 1 return 1)[$a]", ("PQ0115", "XPST0008"), "$a"),
        ("(some $a in 1 satisfies $a), $a", ("PQ0115", "XPST0008"), "$a"),
        (
            "typeswitch (1) case $a as item() return 1 default return $a",
            ("PQ0115", "XPST0008"),
            "$a",
        ),
        (
            "for $a in 1 order by $a collation 'u' return 1",
            ("PQ0501", "XQST0076"),
            "$a collation 'u'",
        ),
    ],
)
def test_what_binds_wrongly_is_underlined(
    text: str, codes: tuple[str, str], underlined: str
) -> None:
    assert rejected(text) == (*codes, underlined)
