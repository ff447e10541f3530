"""The lexer of XPath 1.0, with the disambiguation rules of its section 3.7."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from penstock.errors import QueryError
from penstock.languages.lazy_patterns import lazy_pattern

TEXT_LENGTH_MAX = 100_000
"""Characters of one query; what is longer is data, not a question."""

NAME_START = (
    r"A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c-\u200d"
    r"\u2070-\u218f\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
NAME_INNER = rf"{NAME_START}.0-9\u00b7\u0300-\u036f\u203f-\u2040"
NC_NAME = rf"[{NAME_START}](?:[{NAME_INNER}]|-)*"
NUMBER = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_SYMBOLS = r"::|//|\.\.|!=|<=|>=|[()\[\].@,/|+\-=<>*]"


def token_pattern(more_symbols: str = "") -> re.Pattern[str]:
    """Return the pattern of tokens, with the symbols that a language adds to those of XPath.

    ``a->b`` is the name ``a-`` and the rest in XPath; where ``->`` is a symbol, ``a`` ends there.
    """
    hyphen = "-(?!>)" if "->" in more_symbols else "-"
    name = rf"[{NAME_START}](?:[{NAME_INNER}]|{hyphen})*"
    return lazy_pattern(
        rf"""
        (?P<space>[ \t\r\n]+)
      | (?P<literal>"[^"]*"|'[^']*')
      | (?P<number>{NUMBER})
      | (?P<variable>\$[ \t\r\n]*(?:{name}:)?{name})
      | (?P<name>{name}(?::(?!:)(?:{name}|\*))?)
      | (?P<symbol>{more_symbols}{_SYMBOLS})
        """,
        re.VERBOSE,
    )


_PATTERN = token_pattern()


class TokenKind(Enum):
    """What a token is; the sentences of errors use the values."""

    LITERAL = "a literal"
    NUMBER = "a number"
    VARIABLE = "a variable"
    NAME = "a name"
    OPERATOR = "an operator"
    SYMBOL = "a symbol"
    END = "the end of the query"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text; ``text`` is as written."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Return where the token stands."""
        return self.start, self.end


_OPERATOR_SYMBOLS = frozenset("/ // | + - = != < <= > >=".split())
_NO_OPERATOR_AFTER = frozenset("@ :: ( [ ,".split())


def tokenize(
    text: str, operator_names: frozenset[str], pattern: re.Pattern[str] = _PATTERN
) -> list[Token]:
    """Return the tokens of ``text``, the last of kind END.

    After an operand ``*`` is the multiplication and a name in ``operator_names`` an operator,
    as section 3.7 demands; anywhere else both are name tests.

    Raises:
        QueryError: A character or a quote that cannot begin a token, or too long a text.
    """
    if len(text) > TEXT_LENGTH_MAX:
        message = f"the query has {len(text)} characters, more than {TEXT_LENGTH_MAX}"
        way_out = "split it into several subscriptions; they share their work"
        raise QueryError("PQ0106", message, (0, len(text)), way_out, text)
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            raise _bad_character(text, position)
        if match.lastgroup != "space":
            kind = _classify(str(match.lastgroup), match.group(), tokens, operator_names)
            tokens.append(Token(kind, match.group(), match.start(), match.end()))
        position = match.end()
    tokens.append(Token(TokenKind.END, "", len(text), len(text)))
    return tokens


def _classify(
    group: str, text: str, before: list[Token], operator_names: frozenset[str]
) -> TokenKind:
    if group == "name":
        is_operator = text in operator_names and _follows_operand(before)
        return TokenKind.OPERATOR if is_operator else TokenKind.NAME
    if group == "symbol":
        if text == "*":
            return TokenKind.OPERATOR if _follows_operand(before) else TokenKind.NAME
        return TokenKind.OPERATOR if text in _OPERATOR_SYMBOLS else TokenKind.SYMBOL
    return TokenKind[group.upper()]


def _follows_operand(before: list[Token]) -> bool:
    if not before:
        return False
    last = before[-1]
    return last.kind is not TokenKind.OPERATOR and last.text not in _NO_OPERATOR_AFTER


_WAYS_OUT = {
    "$": "a variable is a dollar sign and a name: $price",
    "!": "write != for unequal and not(…) for negation",
    ":": "a prefix and its name stand together: p:name, and an axis takes two colons",
    "{": "bind a prefix with namespaces={'p': uri} and write p:name",
    "}": "bind a prefix with namespaces={'p': uri} and write p:name",
}


def _bad_character(text: str, position: int) -> QueryError:
    character = text[position]
    if character in "\"'":
        message = f"the literal that begins with {character} never ends"
        way_out = f"close it with {character}; a literal that contains one takes the other quote"
        return QueryError("PQ0102", message, (position, len(text)), way_out, text)
    message = f"`{character}` is no part of XPath"
    way_out = _WAYS_OUT.get(character, "remove it, or put it in quotes if it belongs to a string")
    return QueryError("PQ0101", message, (position, position + 1), way_out, text)
