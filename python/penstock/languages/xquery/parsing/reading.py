"""What every part of the parser uses: the token that comes next, and errors about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from penstock.errors import QueryError
from penstock.languages.xpath.parser import NESTING_MAX
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.literals import string_value
from penstock.languages.xquery.tokens import SYNTAX_ERROR, Scanner, Token, TokenKind

T = TypeVar("T")

# What other languages write, and what XQuery writes instead.
_ELSEWHERE = {
    "=": "XQuery writes = once, and := for the value of a variable",
    "==": "XQuery writes = once",
    "&": "XQuery writes and for &&",
    "!": "write not(…) for negation",
    "AND": "XQuery writes and in small letters",
    "OR": "XQuery writes or in small letters",
    "FOR": "XQuery writes for in small letters",
    "LET": "XQuery writes let in small letters",
    "WHERE": "XQuery writes where in small letters",
    "RETURN": "XQuery writes return in small letters",
}


class Reader:
    """The text of a query and the place that the parser has come to.

    ``place`` is where the last token ended; the next one is read from there.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self.scanner = Scanner(text)
        self.place = 0
        self.nesting = 0

    # Tokens

    @property
    def token(self) -> Token:
        """The token that comes next."""
        return self.scanner.token_at(self.place)

    def peek(self, ahead: int = 1) -> Token:
        """Return a token after the next one; past the end it is the end."""
        token = self.token
        for _ in range(ahead):
            token = self.scanner.token_at(token.end)
        return token

    def advance(self) -> Token:
        """Take the next token."""
        token = self.token
        if token.kind is TokenKind.BAD:
            raise self.scanner.bad_token(token)
        self.place = token.end
        return token

    def is_symbol(self, *texts: str) -> bool:
        """Return whether the next token is one of these symbols."""
        token = self.token
        return token.kind is TokenKind.SYMBOL and token.text in texts

    def is_word(self, *words: str) -> bool:
        """Return whether the next token is a name that says one of these words."""
        token = self.token
        return token.kind is TokenKind.NAME and token.text in words

    def are_words(self, *words: str) -> bool:
        """Return whether the next tokens are these words or symbols, one after the other."""
        token = self.token
        for number, word in enumerate(words):
            token = self.scanner.token_at(token.end) if number else token
            if token.text != word or token.kind not in (TokenKind.NAME, TokenKind.SYMBOL):
                return False
        return True

    def take_symbol(self, text: str) -> bool:
        """Take the symbol if it comes next, and say whether it did."""
        if not self.is_symbol(text):
            return False
        self.advance()
        return True

    def take_words(self, *words: str) -> bool:
        """Take the words if they come next, and say whether they did."""
        if not self.are_words(*words):
            return False
        for _ in words:
            self.advance()
        return True

    def expect(self, text: str) -> Token:
        """Take the symbol or word ``text`` or raise."""
        if not self.are_words(text):
            raise self.unexpected(f"`{text}`")
        return self.advance()

    def expect_name(self, wanted: str) -> y.QName:
        """Take a name, with a prefix or without, or raise."""
        if self.token.kind is not TokenKind.NAME:
            raise self.unexpected(wanted)
        return self.name_of(self.advance())

    def name_of(self, token: Token) -> y.QName:
        """Return the name that a token is."""
        prefix, _, local = token.text.rpartition(":")
        return y.QName(prefix, local, token.span)

    def expect_variable(self) -> y.QName:
        """Take ``$name`` or raise."""
        start = self.expect("$").start
        name = self.expect_name("the name of a variable")
        return y.QName(name.prefix, name.local, self.span_from(start))

    def expect_string(self, wanted: str) -> str:
        """Take a string literal, and return what it stands for, or raise."""
        if self.token.kind is not TokenKind.STRING:
            raise self.unexpected(wanted)
        return string_value(self.text, self.advance().span)

    def span_from(self, start: int) -> y.Span:
        """Return the span from ``start`` to the end of the last token taken."""
        return start, max(start, self.place)

    # Nesting

    def nested(self, parse: Callable[[], T], span: y.Span) -> T:
        """Parse one level deeper."""
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            raise self.too_deep(span)
        parsed = parse()
        self.nesting -= 1
        return parsed

    def too_deep(self, span: y.Span) -> QueryError:
        """Return the error about nesting."""
        message = f"the query nests more than {NESTING_MAX} levels"
        way_out = "use fewer expressions inside each other, or declare a function"
        return QueryError("PQ0105", message, span, way_out, self.text)

    # Errors

    def error(
        self, code: str, message: str, span: y.Span, way_out: str, xquery_code: str = SYNTAX_ERROR
    ) -> QueryError:
        """Return an error about this text."""
        return QueryError(code, message, span, way_out, self.text, xquery_code)

    def unexpected(self, wanted: str) -> QueryError:
        """Return the error that ``wanted`` should stand where the next token stands."""
        token = self.token
        if token.kind is TokenKind.BAD:
            return self.scanner.bad_token(token)
        if token.kind is TokenKind.END:
            message = f"the query ends where {wanted} should follow"
            return self.error("PQ0104", message, token.span, f"add {wanted}")
        message = f"`{token.text}` cannot stand here"
        way_out = f"{wanted} should stand here"
        if token.text in _ELSEWHERE:
            way_out = _ELSEWHERE[token.text]
        return self.error("PQ0103", message, token.span, way_out)

    # What later classes parse, and earlier ones ask for

    def parse_expression(self) -> y.Expression:
        """Parse expressions with commas between them."""
        raise NotImplementedError

    def parse_single(self) -> y.Expression:
        """Parse one expression, without a comma outside of brackets."""
        raise NotImplementedError
