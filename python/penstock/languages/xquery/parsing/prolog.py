"""A whole query: the version, the prolog, the body."""

from __future__ import annotations

import re

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.parsing.primaries import PrimaryParser
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.tokens import TokenKind

_ENCODING = re.compile(r"[A-Za-z][A-Za-z0-9._-]*")
_CHOICES = {
    "boundary-space": ("preserve", "strip"),
    "construction": ("preserve", "strip"),
    "ordering": ("ordered", "unordered"),
}
_FIRST = frozenset({*_CHOICES, "default", "base-uri", "copy-namespaces", "namespace"})
_SECOND = frozenset({"variable", "function", "option"})
_LATER = {
    "context": "declarations of the context item",
    "decimal-format": "decimal formats",
    "updating": "updates",
}


class Parser(PrimaryParser):
    """Parses a whole query."""

    def parse(self) -> y.Module:
        """Return the syntax tree of the text.

        Raises:
            QueryError: It is no query; the span covers the first token that does not fit.
        """
        self._parse_version()
        if self.are_words("module", "namespace"):
            raise rejection("module", self.token.span, self.text)
        prolog = self._parse_prolog()
        body = self.parse_expression()
        if self.token.kind is not TokenKind.END:
            raise self._no_end()
        return y.Module(prolog, body, (0, len(self.text)))

    def _no_end(self) -> Exception:
        if self.is_symbol(";"):
            message = "a semicolon ends declarations only"
            return self.error("PQ0103", message, self.token.span, "remove it")
        if self.is_symbol("?"):
            return rejection("maps", self.token.span, self.text)
        return self.unexpected("an operator or the end of the query")

    def _parse_version(self) -> None:
        if not (self.is_word("xquery") and self.peek().text == "version"):
            return
        self.advance()
        self.advance()
        start = self.token.start
        version = self.expect_string("a version in quotes")
        if version != "1.0":
            message = f"this is XQuery 1.0, not {version}"
            span = self.span_from(start)
            raise self.error("PQ0501", message, span, 'write xquery version "1.0";', "XQST0031")
        if self.take_words("encoding"):
            start = self.token.start
            if not _ENCODING.fullmatch(self.expect_string("the name of an encoding")):
                message = "this is no name of an encoding"
                span = self.span_from(start)
                raise self.error("PQ0103", message, span, "leave it out", "XQST0087")
        self.expect(";")

    def _parse_prolog(self) -> tuple[y.Declaration, ...]:
        declarations: list[y.Declaration] = []
        is_second = False
        while True:
            token, following = self.token, self.peek()
            if self.is_word("import") and following.text in ("module", "schema"):
                raise rejection(f"import {following.text}", token.span, self.text)
            if not self.is_word("declare"):
                break
            if following.text == "%":
                raise rejection("annotations", following.span, self.text)
            if following.text in _LATER and following.kind is TokenKind.NAME:
                raise rejection(_LATER[following.text], following.span, self.text)
            if following.kind is not TokenKind.NAME or following.text not in _FIRST | _SECOND:
                break
            if is_second and following.text in _FIRST:
                message = "this stands behind a variable, a function or an option"
                way_out = "move it to the beginning of the query"
                raise self.error("PQ0103", message, (token.start, following.end), way_out)
            is_second = is_second or following.text in _SECOND
            self.advance()
            declarations.append(self._parse_declaration(token.start))
            self.expect(";")
        return tuple(declarations)

    def _parse_declaration(self, start: int) -> y.Declaration:
        word = self.advance().text
        match word:
            case "namespace":
                prefix = self.expect_name("a prefix")
                if prefix.prefix:
                    message = f"`{prefix.text}` is no prefix"
                    raise self.error("PQ0103", message, prefix.span, "write it without a colon")
                self.expect("=")
                uri = self.expect_string("a URI in quotes")
                return y.NamespaceDeclaration(prefix.local, uri, self.span_from(start))
            case "default":
                return self._parse_default(start)
            case "base-uri":
                return y.Setter(word, self.expect_string("a URI in quotes"), self.span_from(start))
            case "copy-namespaces":
                first = self._choice("preserve", "no-preserve")
                self.expect(",")
                value = f"{first}, {self._choice('inherit', 'no-inherit')}"
                return y.Setter(word, value, self.span_from(start))
            case "option":
                name = self.expect_name("the name of an option")
                value = self.expect_string("a value in quotes")
                return y.OptionDeclaration(name, value, self.span_from(start))
            case "variable":
                return self._parse_variable(start)
            case "function":
                return self._parse_function(start)
            case _:
                return y.Setter(word, self._choice(*_CHOICES[word]), self.span_from(start))

    def _choice(self, *words: str) -> str:
        if not self.is_word(*words):
            raise self.unexpected(" or ".join(f"`{word}`" for word in words))
        return self.advance().text

    def _parse_default(self, start: int) -> y.Declaration:
        kind = self._choice("element", "function", "order", "collation")
        if kind == "collation":
            uri = self.expect_string("the URI of a collation")
            return y.Setter("default collation", uri, self.span_from(start))
        if kind == "order":
            self.expect("empty")
            value = self._choice("greatest", "least")
            return y.Setter("default order empty", value, self.span_from(start))
        self.expect("namespace")
        uri = self.expect_string("a URI in quotes")
        return y.NamespaceDeclaration("", uri, self.span_from(start), kind)

    def _parse_variable(self, start: int) -> y.VariableDeclaration:
        name = self.expect_variable()
        kind = self.parse_optional_type()
        if self.take_words("external"):
            span = self.span_from(start)
            if self.is_symbol(":="):
                raise rejection("defaults of external variables", self.token.span, self.text)
            return y.VariableDeclaration(name, kind, None, span)
        self.expect(":=")
        value = self.parse_single()
        return y.VariableDeclaration(name, kind, value, self.span_from(start))

    def _parse_function(self, start: int) -> y.FunctionDeclaration:
        name = self.expect_name("the name of a function")
        self.expect("(")
        parameters = []
        if not self.is_symbol(")"):
            parameters.append(self._parse_parameter())
            while self.take_symbol(","):
                parameters.append(self._parse_parameter())
        self.expect(")")
        result = self.parse_optional_type()
        if self.is_word("external"):
            external = self.token
            self.advance()
            self.expect(";")
            self._parse_prolog()
            self.parse_expression()  # a text that is no query is that first
            raise rejection("external function", external.span, self.text)
        self.expect("{")
        body = self.parse_expression()
        self.expect("}")
        span = self.span_from(start)
        return y.FunctionDeclaration(name, tuple(parameters), result, body, span)

    def _parse_parameter(self) -> y.Parameter:
        start = self.token.start
        name = self.expect_variable()
        kind = self.parse_optional_type()
        return y.Parameter(name, kind, self.span_from(start))
