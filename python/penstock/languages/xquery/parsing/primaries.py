"""Primary expressions: literals, variables, calls, parentheses, computed constructors."""

from __future__ import annotations

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.literals import (
    decimal_literal,
    double_text,
    integer_text,
    string_value,
)
from penstock.languages.xquery.parsing.direct import DirectParser
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.tokens import Token, TokenKind

_NAMED = ("element", "attribute", "processing-instruction")
_UNNAMED = ("document", "text", "comment")
_IGNORED = ("ordered", "unordered")
_LATER_BRACES = {"try": "try", "map": "maps", "array": "arrays"}
_RESERVED = frozenset({"item", "if", "typeswitch", "empty-sequence"})
_LATER_CALLS = {"switch": "switch", "function": "functions as values"}


class PrimaryParser(DirectParser):
    """Adds primary expressions to the parser."""

    def begins_primary(self, token: Token, following: Token) -> bool:
        """Return whether a name begins a call or a constructor, and is no name test."""
        word = token.text
        if following.text in ("(", "#"):
            return True
        if following.text == "{":
            known = (*_NAMED, *_UNNAMED, *_IGNORED, *_LATER_BRACES, "validate", "namespace")
            return word in known or (word == "Q" and following.start == token.end)
        if following.kind is TokenKind.NAME and word in (*_NAMED, "namespace", "validate"):
            return self.peek(2).text == "{"
        return False

    def parse_primary(self) -> y.Expression:
        """Parse a literal, a variable, a call, a constructor or parentheses."""
        token = self.token
        match token.kind:
            case TokenKind.STRING | TokenKind.INTEGER | TokenKind.DECIMAL | TokenKind.DOUBLE:
                return self._parse_literal_token()
            case TokenKind.NAME:
                following = self.peek()
                is_call = following.text in ("(", "#")
                return self._parse_call() if is_call else self._parse_keyword(token)
            case TokenKind.SYMBOL:
                return self._parse_symbol(token)
        raise self.unexpected("an expression")

    def _parse_symbol(self, token: Token) -> y.Expression:
        match token.text:
            case "$":
                name = self.expect_variable()
                return y.Variable(name, self.span_from(token.start))
            case ".":
                self.advance()
                return y.ContextItem(token.span)
            case "(":
                self.advance()
                if self.take_symbol(")"):
                    return y.Comma((), self.span_from(token.start))
                inside = self.parse_expression()
                self.expect(")")
                return inside
            case "(#":
                return self._parse_extension()
            case "%":
                raise rejection("annotations", token.span, self.text)
            case "`" if self.text.startswith("``[", token.start):
                raise rejection("string constructors", token.span, self.text)
        if token.text[0] == "<":
            if self.begins_step():
                return self.parse_direct()
            if token.text == "<":
                way_out = "the name of an element follows < without a space"
                raise self.error("PQ0502", "this begins no element", token.span, way_out)
        raise self.unexpected("an expression")

    def _parse_literal_token(self) -> y.Literal:
        token = self.advance()
        match token.kind:
            case TokenKind.STRING:
                return y.Literal("string", string_value(self.text, token.span), token.span)
            case TokenKind.INTEGER:
                digits = integer_text(token.text, token.span, self.text)
                return y.Literal("integer", digits, token.span)
            case TokenKind.DECIMAL:
                digits = decimal_literal(token.text, token.span, self.text)
                return y.Literal("decimal", digits, token.span)
            case _:
                return y.Literal("double", double_text(float(token.text)), token.span)

    def _parse_call(self) -> y.Expression:
        token = self.token
        if token.text in _LATER_CALLS:
            raise rejection(_LATER_CALLS[token.text], token.span, self.text)
        if token.text in _RESERVED:
            message = f"`{token.text}(` begins no expression here"
            raise self.error("PQ0103", message, token.span, "put the expression in parentheses")
        name = self.name_of(self.advance())
        if self.is_symbol("#"):
            raise rejection("functions as values", self.token.span, self.text)
        self.expect("(")
        arguments: list[y.Expression] = []
        if not self.is_symbol(")"):
            arguments.append(self.parse_single())
            while self.take_symbol(","):
                arguments.append(self.parse_single())
        self.expect(")")
        return y.Call(name, tuple(arguments), self.span_from(token.start))

    def _parse_keyword(self, token: Token) -> y.Expression:
        """Parse what begins with a word and has braces."""
        word = token.text
        if word in _LATER_BRACES:
            raise rejection(_LATER_BRACES[word], token.span, self.text)
        if word == "Q":
            raise rejection("names with braces", token.span, self.text)
        if word == "namespace":
            raise rejection("namespace constructors", token.span, self.text)
        if word == "validate":
            raise rejection("validate", token.span, self.text)
        self.advance()
        if word in _IGNORED:
            return self._braces(is_needed=True)
        name: y.QName | y.Expression | None = None
        if word in _NAMED:
            named = self.token.kind is TokenKind.NAME
            name = self.name_of(self.advance()) if named else self._braces(is_needed=True)
            if word == "processing-instruction" and isinstance(name, y.QName) and name.prefix:
                message = "the target of an instruction has no prefix"
                raise self.error("PQ0103", message, name.span, f"write {name.local}")
        content = self._braces(is_needed=word in _UNNAMED)
        return y.Computed(word, name, content, self.span_from(token.start))

    def _braces(self, is_needed: bool) -> y.Expression:
        """Parse ``{ expression }``; without one it is the empty sequence."""
        opening = self.expect("{")
        if not is_needed and self.take_symbol("}"):
            return y.Comma((), self.span_from(opening.start))
        expression = self.parse_expression()
        self.expect("}")
        return expression

    def _parse_extension(self) -> y.Expression:
        """Parse ``(# pragma #) { expression }``: pragmas are ignored, the expression is not."""
        start = self.token.start
        pragmas = []
        while self.is_symbol("(#"):
            opening = self.advance()
            name = self.expect_name("the name of a pragma")
            if not name.prefix:
                message = f"the pragma `{name.local}` has no prefix"
                raise self.error("PQ0111", message, name.span, "write prefix:name", "XPST0081")
            end = self.text.find("#)", self.place)
            if end < 0:
                message = "the pragma never ends"
                raise self.error("PQ0102", message, opening.span, "close it with #)")
            pragmas.append(name)
            self.place = end + 2
        self.expect("{")
        if self.is_symbol("}"):
            message = "no pragma is known here, and there is no expression to fall back on"
            span = self.span_from(start)
            raise self.error("PQ0501", message, span, "write it between the braces", "XQST0079")
        expression = self.parse_expression()
        self.expect("}")
        return y.Extension(tuple(pragmas), expression, self.span_from(start))
