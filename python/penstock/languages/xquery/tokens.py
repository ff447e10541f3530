"""The tokens of XQuery, read one at a time where the parser stands.

Direct constructors have lexical rules of their own, and only the parser knows where one begins.
So there is no list of tokens: the parser asks for the token at a place, and moves the place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from penstock.errors import QueryError
from penstock.languages.xpath.tokens import NAME_START, NC_NAME, TEXT_LENGTH_MAX

Span = tuple[int, int]

SYNTAX_ERROR = "XPST0003"
"""What XQuery calls a text that its grammar does not allow."""

BAD_CHARACTER = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML, and so a query, cannot contain."""

_SPACE = re.compile(r"[ \t\r\n]*")
_COMMENT_MARK = re.compile(r"\(:|:\)")
_PATTERN = re.compile(
    rf"""
    (?P<string>"(?:[^"]|"")*+"|'(?:[^']|'')*+')
  | (?P<double>(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)[eE][+-]?[0-9]+)
  | (?P<decimal>\.[0-9]+|[0-9]+\.[0-9]*)
  | (?P<integer>[0-9]+)
  | (?P<wildcard>\*:{NC_NAME}|{NC_NAME}:\*)
  | (?P<name>{NC_NAME}(?::(?!:){NC_NAME})?)
  | (?P<symbol>\(\#|:=|::|//|\.\.|!=|<=|>=|<<|>>|\|\||=>|[][(){{}}.@,/|+\-=<>*$?;:!\#%&^~`\\])
    """,
    re.VERBOSE,
)
_NUMBERS = ("integer", "decimal", "double")
_STARTS_NAME = re.compile(rf"[{NAME_START}]")


class TokenKind(Enum):
    """What a token is. Names are names: a keyword is one only where it stands as one."""

    NAME = "name"
    WILDCARD = "wildcard"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    STRING = "string"
    SYMBOL = "symbol"
    BAD = "bad"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A token and the half-open range of characters it stands in."""

    kind: TokenKind
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """The range as a pair."""
        return self.start, self.end


class Scanner:
    """Reads tokens of one text, at any place.

    Raises:
        QueryError: The text is too long, or contains what no XML contains.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: dict[int, Token] = {}
        if len(text) > TEXT_LENGTH_MAX:
            message = f"the query has {len(text):,} characters, more than {TEXT_LENGTH_MAX:,}"
            way_out = "put data into a document, or values into variables"
            raise QueryError("PQ0106", message, (0, 0), way_out, "")
        bad = BAD_CHARACTER.search(text)
        if bad is not None:
            message = f"a query cannot contain the character U+{ord(bad[0]):04X}"
            raise QueryError("PQ0101", message, bad.span(), "remove it", text, SYNTAX_ERROR)

    def token_at(self, place: int) -> Token:
        """Return the first token from ``place`` on, behind spaces and comments.

        What is no token has the kind BAD; it is an error only if the parser takes it.
        """
        token = self.tokens.get(place)
        if token is None:
            token = self.tokens[place] = self._read(place)
        return token

    def _read(self, place: int) -> Token:
        start = self.skip(place)
        if start < 0:
            return Token(TokenKind.BAD, "(:", -start - 1, len(self.text))
        if start == len(self.text):
            return Token(TokenKind.END, "", start, start)
        match = _PATTERN.match(self.text, start)
        if match is None:
            end = len(self.text) if self.text[start] in "\"'" else start + 1
            return Token(TokenKind.BAD, self.text[start], start, end)
        group = match.lastgroup
        assert group is not None
        if group in _NUMBERS and _STARTS_NAME.match(self.text, match.end()):
            return Token(TokenKind.BAD, match[0], start, match.end() + 1)
        return Token(TokenKind(group), match[0], start, match.end())

    def skip(self, place: int) -> int:
        """Return where spaces and comments end; ``-1 - start`` for a comment without an end."""
        while True:
            space = _SPACE.match(self.text, place)
            assert space is not None
            place = space.end()
            if not self.text.startswith("(:", place):
                return place
            start, depth = place, 0
            for mark in _COMMENT_MARK.finditer(self.text, place):
                depth += 1 if mark[0] == "(:" else -1
                if depth == 0:
                    place = mark.end()
                    break
            if depth:
                return -1 - start

    def bad_token(self, token: Token) -> QueryError:
        """Return the error about a token of the kind BAD."""
        code, message, way_out = "PQ0101", f"`{token.text}` is no part of XQuery", "remove it"
        if token.text == "(:":
            code, message = "PQ0102", "the comment never ends"
            way_out = "close it with :), each comment inside it too"
        elif token.text in "\"'":
            code, message = "PQ0102", f"the literal that begins with {token.text} never ends"
            way_out = f"close it with {token.text}; double a quote that belongs to it"
        elif token.text[0] in ".0123456789":
            code, message = "PQ0103", "a number ends where a name begins"
            way_out = "put a space between them"
        return QueryError(code, message, token.span, way_out, self.text, SYNTAX_ERROR)
