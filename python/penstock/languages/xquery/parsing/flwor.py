"""Expressions that begin with a keyword: FLWOR, quantifiers, conditions, type switches."""

from __future__ import annotations

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.parsing.paths import PathParser
from penstock.languages.xquery.rejections import rejection

_LATER_KEYWORDS = {
    ("switch", "("): "switch",
    ("try", "{"): "try",
    ("for", "tumbling"): "window clauses",
    ("for", "sliding"): "window clauses",
    ("insert", "node"): "updates",
    ("insert", "nodes"): "updates",
    ("delete", "node"): "updates",
    ("delete", "nodes"): "updates",
    ("replace", "node"): "updates",
    ("replace", "value"): "updates",
    ("rename", "node"): "updates",
    ("copy", "$"): "updates",
}


class FlworParser(PathParser):
    """Adds the expressions that begin with a keyword to the parser."""

    def parse_single(self) -> y.Expression:
        """Parse one expression, without a comma outside of brackets."""
        return self.nested(self._parse_single, self.token.span)

    def _parse_single(self) -> y.Expression:
        word, following = self.token.text, self.peek().text
        if following == "$" and self.is_word("for", "let"):
            return self._parse_flwor()
        if following == "$" and self.is_word("some", "every"):
            return self._parse_quantified()
        if following == "(" and self.is_word("if"):
            return self._parse_if()
        if following == "(" and self.is_word("typeswitch"):
            return self._parse_type_switch()
        if self.is_word(word) and (word, following) in _LATER_KEYWORDS:
            raise rejection(_LATER_KEYWORDS[word, following], self.token.span, self.text)
        return self.parse_operators()

    def _parse_flwor(self) -> y.Expression:
        start = self.token.start
        clauses: list[y.Clause] = []
        while self.are_words("for", "$") or self.are_words("let", "$"):
            parse = self._parse_for if self.advance().text == "for" else self._parse_let
            clauses.append(parse())
            while self.take_symbol(","):
                clauses.append(parse())
        if self.is_word("where"):
            where = self.advance()
            clauses.append(y.Where(self.parse_single(), self.span_from(where.start)))
        if self.is_word("order", "stable"):
            clauses.append(self._parse_order())
        self._refuse_later_clause()
        self.expect("return")
        result = self.parse_single()
        return y.Flwor(tuple(clauses), result, self.span_from(start))

    def _refuse_later_clause(self) -> None:
        """Raise where a clause of XQuery 3.0 stands before ``return``."""
        if self.are_words("group", "by"):
            raise rejection("group by", self.token.span, self.text)
        if self.are_words("count", "$"):
            raise rejection("count clauses", self.token.span, self.text)
        if self.is_word("for", "let", "where", "order"):
            message = f"XQuery 1.0 has no `{self.token.text}` here"
            way_out = "write for and let first, then where, then order by; or nest: return for …"
            raise self.error("PQ0103", message, self.token.span, way_out)

    def _parse_for(self) -> y.For:
        start = self.token.start
        variable = self.expect_variable()
        kind = self.parse_optional_type()
        if self.are_words("allowing", "empty"):
            raise rejection("allowing empty", self.token.span, self.text)
        position = self.expect_variable() if self.take_words("at") else None
        self.expect("in")
        return y.For(variable, kind, position, self.parse_single(), self.span_from(start))

    def _parse_let(self) -> y.Let:
        start = self.token.start
        variable = self.expect_variable()
        kind = self.parse_optional_type()
        self.expect(":=")
        return y.Let(variable, kind, self.parse_single(), self.span_from(start))

    def _parse_order(self) -> y.OrderBy:
        start = self.token.start
        self.take_words("stable")
        self.expect("order")
        self.expect("by")
        keys = [self._parse_order_key()]
        while self.take_symbol(","):
            keys.append(self._parse_order_key())
        return y.OrderBy(tuple(keys), self.span_from(start))

    def _parse_order_key(self) -> y.OrderKey:
        start = self.token.start
        key = self.parse_single()
        is_descending = not self.take_words("ascending") and self.take_words("descending")
        empty = collation = None
        if self.take_words("empty"):
            if not self.is_word("greatest", "least"):
                raise self.unexpected("`greatest` or `least`")
            empty = self.advance().text
        if self.take_words("collation"):
            collation = self.expect_string("the URI of a collation")
        return y.OrderKey(key, is_descending, empty, collation, self.span_from(start))

    def _parse_quantified(self) -> y.Expression:
        token = self.advance()
        bindings = [self._parse_binding()]
        while self.take_symbol(","):
            bindings.append(self._parse_binding())
        self.expect("satisfies")
        test = self.parse_single()
        return y.Quantified(token.text, tuple(bindings), test, self.span_from(token.start))

    def _parse_binding(self) -> y.For:
        start = self.token.start
        variable = self.expect_variable()
        kind = self.parse_optional_type()
        self.expect("in")
        return y.For(variable, kind, None, self.parse_single(), self.span_from(start))

    def _parse_if(self) -> y.Expression:
        start = self.advance().start
        self.expect("(")
        test = self.parse_expression()
        self.expect(")")
        self.expect("then")
        then = self.parse_single()
        if not self.is_word("else"):
            if self.is_symbol(")", "}", "]", ",") or self.is_word("return"):
                raise rejection("if without else", self.span_from(start), self.text)
            raise self.unexpected("`else`")
        self.advance()
        return y.If(test, then, self.parse_single(), self.span_from(start))

    def _parse_type_switch(self) -> y.Expression:
        start = self.advance().start
        self.expect("(")
        operand = self.parse_expression()
        self.expect(")")
        cases = []
        while self.is_word("case"):
            cases.append(self._parse_case())
        if not cases:
            raise self.unexpected("`case`")
        default = self.expect("default")
        variable = self.expect_variable() if self.is_symbol("$") else None
        self.expect("return")
        result = self.parse_single()
        cases.append(y.Case(None, variable, result, self.span_from(default.start)))
        return y.TypeSwitch(operand, tuple(cases), self.span_from(start))

    def _parse_case(self) -> y.Case:
        start = self.advance().start
        variable = None
        if self.is_symbol("$"):
            variable = self.expect_variable()
            self.expect("as")
        kind = self.parse_sequence_type()
        if self.is_symbol("|"):
            raise rejection("unions of types", self.token.span, self.text)
        self.expect("return")
        return y.Case(kind, variable, self.parse_single(), self.span_from(start))
