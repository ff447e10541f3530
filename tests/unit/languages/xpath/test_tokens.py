"""The lexer tells names from operators as section 3.7 of XPath 1.0 demands."""

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath.tokens import TEXT_LENGTH_MAX, TokenKind, tokenize

OPERATORS = frozenset({"and", "or", "div", "mod"})


def kinds(text: str) -> list[str]:
    """Return `text/KIND` for every token but the end."""
    return [f"{t.text}/{t.kind.name}" for t in tokenize(text, OPERATORS)[:-1]]


def test_a_star_after_an_operand_multiplies() -> None:
    assert kinds("* * *") == ["*/NAME", "*/OPERATOR", "*/NAME"]


@pytest.mark.parametrize("before", ["@", "child::", "(", "[", ",", "/", "//", "|", "+", "=", "or "])
def test_a_star_after_no_operand_is_a_name_test(before: str) -> None:
    text = "a or *" if before == "or " else before + "*"
    assert kinds(text)[-1] == "*/NAME"


def test_operator_names_are_names_where_no_operand_precedes() -> None:
    assert kinds("or or or") == ["or/NAME", "or/OPERATOR", "or/NAME"]
    assert kinds("/and/div") == ["//OPERATOR", "and/NAME", "//OPERATOR", "div/NAME"]


def test_a_hyphen_belongs_to_the_name() -> None:
    assert kinds("a-b") == ["a-b/NAME"]
    assert kinds("a -b") == ["a/NAME", "-/OPERATOR", "b/NAME"]


def test_a_qualified_name_is_one_token() -> None:
    assert kinds("p:a") == ["p:a/NAME"]
    assert kinds("p:*") == ["p:*/NAME"]
    assert kinds("self::a") == ["self/NAME", "::/SYMBOL", "a/NAME"]


def test_names_may_use_any_letters_of_xml() -> None:
    assert kinds("größe") == ["größe/NAME"]
    assert kinds("名前/𐀀") == ["名前/NAME", "//OPERATOR", "𐀀/NAME"]


def test_numbers_may_begin_or_end_with_the_point() -> None:
    assert kinds("1.") == ["1./NUMBER"]
    assert kinds(".5") == [".5/NUMBER"]
    assert kinds("1..2") == ["1./NUMBER", ".2/NUMBER"]


def test_literals_hold_the_other_quote() -> None:
    assert kinds('"it\'s"') == ['"it\'s"/LITERAL']


def test_tokens_cover_what_they_stand_for() -> None:
    text = " //a [ @b = 'x' ] "
    for token in tokenize(text, OPERATORS):
        assert text[token.start : token.end] == token.text


def test_the_last_token_is_the_end() -> None:
    (end,) = tokenize("", OPERATORS)
    assert (end.kind, end.span) == (TokenKind.END, (0, 0))


@pytest.mark.parametrize(
    ("text", "code", "span"),
    [
        ("//a[b = 'x]", "PQ0102", (8, 11)),
        ("a ! b", "PQ0101", (2, 3)),
        ("$ 1", "PQ0101", (0, 1)),
        ("a: b", "PQ0101", (1, 2)),
        ("{uri}a", "PQ0101", (0, 1)),
        ("a\u00a0b", "PQ0101", (1, 2)),
        ("a#b", "PQ0101", (1, 2)),
    ],
)
def test_what_begins_no_token_is_underlined(text: str, code: str, span: tuple[int, int]) -> None:
    with pytest.raises(QueryError) as caught:
        tokenize(text, OPERATORS)
    assert (caught.value.code, caught.value.span) == (code, span)


def test_a_text_at_the_limit_is_read_and_a_longer_one_refused() -> None:
    tokenize(" " * TEXT_LENGTH_MAX, OPERATORS)
    with pytest.raises(QueryError, match="PQ0106"):
        tokenize(" " * (TEXT_LENGTH_MAX + 1), OPERATORS)
