"""Sequence types and casts."""

import pytest

from penstock.languages.xquery.types import ATOMIC_TYPES, UNSUPPORTED_TYPES
from tests.unit.languages.xquery.asking import error_of, printed, rejected


@pytest.mark.parametrize(
    "kind",
    [
        "empty-sequence()",
        "item()*",
        "node()+",
        "element()?",
        "element(a)",
        "attribute(a)*",
        "attribute()",
        "text()",
        "comment()",
        "processing-instruction()",
        'processing-instruction("a")',
        "document-node()",
        "document-node(element(a))",
        *(f"xs:{name}?" for name in sorted(ATOMIC_TYPES)),
    ],
)
def test_a_sequence_type_is_written_as_it_was(kind: str) -> None:
    assert printed(f"1 instance of {kind}") == f"1 instance of {kind}"
    assert printed(f"let $x as {kind} := 1 return 2") == f"let $x as {kind} := 1 return 2"


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("element(*)", "element()"),
        ("element(a, xs:untyped?)", "element(a)"),
        ("attribute(*, xs:untypedAtomic)", "attribute()"),
        ("processing-instruction(a)", 'processing-instruction("a")'),
        ("xs:integer ?", "xs:integer?"),
    ],
)
def test_types_that_say_the_same_are_written_the_same(kind: str, form: str) -> None:
    assert printed(f"1 instance of {kind}") == f"1 instance of {form}"


@pytest.mark.parametrize(
    ("text", "codes", "underlined"),
    [
        ("1 instance of foo", ("PQ0504", "XPST0051"), "foo"),
        ("1 instance of xs:foo", ("PQ0504", "XPST0051"), "xs:foo"),
        ("1 instance of p:foo", ("PQ0111", "XPST0081"), "p:foo"),
        ("1 instance of xs:integer**", ("PQ0104", "XPST0003"), ""),
        ("1 instance of foo()", ("PQ0103", "XPST0003"), "foo"),
        ("1 instance of map(*)", ("PQ0501", "XPST0003"), "map"),
        ("1 instance of function(*)", ("PQ0501", "XPST0003"), "function"),
        ("1 instance of 1", ("PQ0103", "XPST0003"), "1"),
        ("1 cast as xs:integer*", ("PQ0104", "XPST0003"), ""),
        ("1 cast as item()", ("PQ0103", "XPST0003"), "("),
        ("1 cast as xs:anyAtomicType", ("PQ0504", "XPST0080"), "xs:anyAtomicType"),
        ("1 castable as xs:NOTATION", ("PQ0504", "XPST0080"), "xs:NOTATION"),
        ("1 cast as xs:untyped", ("PQ0504", "XPST0051"), "xs:untyped"),
        ("1 instance of schema-element(a)", ("PQ0501", "XPST0008"), "schema-element"),
        ("schema-attribute(a)", ("PQ0501", "XPST0008"), "schema-attribute"),
        (
            "1 instance of document-node(schema-element(a))",
            ("PQ0501", "XPST0008"),
            "schema-element",
        ),
        ("1 instance of document-node(text())", ("PQ0103", "XPST0003"), "text"),
        ("element(a, xs:integer)", ("PQ0501", "XPST0008"), "xs:integer"),
        ("element(a, xs:foo)", ("PQ0504", "XPST0008"), "xs:foo"),
        ("element(a:*)", ("PQ0103", "XPST0003"), "a:*"),
        ("attribute(a, xs:untypedAtomic?)", ("PQ0103", "XPST0003"), "?"),
        ("let $x as := 1 return 2", ("PQ0103", "XPST0003"), ":="),
        ("typeswitch (1) case xs:foo return 1 default return 2", ("PQ0504", "XPST0051"), "xs:foo"),
    ],
)
def test_a_type_that_is_none_is_underlined(
    text: str, codes: tuple[str, str], underlined: str
) -> None:
    assert rejected(text) == (*codes, underlined)


@pytest.mark.parametrize("name", sorted(UNSUPPORTED_TYPES))
def test_an_unsupported_type_is_rejected_with_another_one(name: str) -> None:
    error = error_of(f"1 cast as xs:{name}")
    assert (error.code, error.xquery_code) == ("PQ0501", "XPST0051")
    assert error.help == f"use {UNSUPPORTED_TYPES[name]}"


def test_a_misspelt_type_is_corrected() -> None:
    assert "xs:integer" in error_of("1 cast as xs:intger").help
