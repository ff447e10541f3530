"""Operators, from ``or`` down to the sign before a value."""

from __future__ import annotations

from penstock.languages.xpath.parser import NESTING_MAX
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.parsing.types import TypeParser
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.tokens import TokenKind

_COMPARISON, _RANGE, _CAST = 3, 4, 12

_LEVELS = {
    "or": 1,
    "and": 2,
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">="), _COMPARISON),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _COMPARISON),
    **dict.fromkeys(("is", "<<", ">>"), _COMPARISON),
    "to": _RANGE,
    "+": 5,
    "-": 5,
    "*": 6,
    "div": 6,
    "idiv": 6,
    "mod": 6,
    "union": 7,
    "|": 7,
    "intersect": 8,
    "except": 8,
}
"""How tightly operators bind. Below them come those with a type on their right."""

_TYPE_OPERATORS = {
    "instance": ("of", 9),
    "treat": ("as", 10),
    "castable": ("as", 11),
    "cast": ("as", _CAST),
}
_LATER = {"||": "||", "!": "!", "=>": "=>", "contains": "full-text search"}


class OperatorParser(TypeParser):
    """Adds operators to the parser."""

    def parse_expression(self) -> y.Expression:
        """Parse expressions with commas between them."""
        start = self.token.start
        first = self.parse_single()
        if not self.is_symbol(","):
            return first
        parts = [first]
        while self.take_symbol(","):
            parts.append(self.parse_single())
        return y.Comma(tuple(parts), self.span_from(start))

    def parse_operators(self, level: int = 1) -> y.Expression:
        """Parse operators that bind at least as tightly as ``level``."""
        start = self.token.start
        left = self.parse_signed()
        # The operators that may still follow bind no tighter than the last one; comparisons,
        # ranges and types do not follow themselves.
        ceiling = _CAST
        links = 0
        while True:
            operator, own = self._next_operator()
            if not level <= own <= ceiling:
                return left
            if operator in ("and", "or"):
                left, ceiling = self._parse_logical(operator, own, left, start), own
                continue
            span = self.advance().span
            links += 1
            if links > NESTING_MAX:
                raise self.too_deep(span)
            if operator in _TYPE_OPERATORS:
                left = self._parse_type_operation(operator, left, start)
                ceiling = own - 1
                continue
            right = self.parse_operators(own + 1)
            operator = "union" if operator == "|" else operator
            left = y.Binary(operator, left, right, self.span_from(start))
            ceiling = own - 1 if own in (_COMPARISON, _RANGE) else own

    def _parse_logical(
        self, operator: str, level: int, left: y.Expression, start: int
    ) -> y.Expression:
        """Parse ``a and b and c`` in one, however long it is."""
        parts = [left]
        while self.is_word(operator):
            self.advance()
            parts.append(self.parse_operators(level + 1))
        return y.Logical(operator, tuple(parts), self.span_from(start))

    def _next_operator(self) -> tuple[str, int]:
        """Return the operator that comes next and how tightly it binds; 0 if none does."""
        token = self.token
        if token.kind is TokenKind.NAME and token.text in _TYPE_OPERATORS:
            second, level = _TYPE_OPERATORS[token.text]
            return token.text, level if self.peek().text == second else 0
        if token.kind not in (TokenKind.NAME, TokenKind.SYMBOL):
            return "", 0
        if token.text in _LATER:
            raise rejection(_LATER[token.text], token.span, self.text)
        return token.text, _LEVELS.get(token.text, 0)

    def _parse_type_operation(self, operator: str, left: y.Expression, start: int) -> y.Expression:
        self.advance()  # `of` or `as`
        is_cast = operator.startswith("cast")
        kind = self.parse_single_type() if is_cast else self.parse_sequence_type()
        return y.TypeOperation(operator, left, kind, self.span_from(start))

    def parse_signed(self) -> y.Expression:
        """Parse a path with any number of signs before it."""
        if not self.is_symbol("-", "+"):
            return self.parse_path()
        token = self.advance()
        operand = self.nested(self.parse_signed, token.span)
        return y.Signed(token.text, operand, self.span_from(token.start))

    def parse_path(self) -> y.Expression:
        """Parse a path or a primary expression."""
        raise NotImplementedError
