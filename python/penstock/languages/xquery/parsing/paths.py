"""Paths and their steps."""

from __future__ import annotations

import re
from difflib import get_close_matches

from penstock.errors import QueryError
from penstock.languages.xpath.parser import STEPS_MAX
from penstock.languages.xpath.tokens import NAME_START
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.parsing.operators import OperatorParser
from penstock.languages.xquery.parsing.types import KIND_TESTS
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.tokens import Token, TokenKind
from penstock.twigs import Axis

_AXES = {axis.value: axis for axis in Axis}
_DIRECT = re.compile(rf"<(?:[{NAME_START}]|!--|\?)")
_LITERALS = (TokenKind.STRING, TokenKind.INTEGER, TokenKind.DECIMAL, TokenKind.DOUBLE)


class PathParser(OperatorParser):
    """Adds paths to the parser."""

    def parse_path(self) -> y.Expression:
        """Parse steps with slashes between them, perhaps after a leading one."""
        start = self.token.start
        if self.is_symbol("//"):
            root: y.Expression = y.RootNode(self.token.span)
            return self._parse_more(root, start)
        if not self.is_symbol("/"):
            return self._parse_more(self.parse_step(), start)
        root = y.RootNode(self.advance().span)
        if not self.begins_step():
            if self.is_symbol("<", "<<", "<="):
                # The grammar takes it for the beginning of a step, whatever follows.
                raise self.error(
                    "PQ0103",
                    f"`{self.token.text}` behind `/` begins a step, and this is none",
                    self.token.span,
                    "put the slash in parentheses: (/)",
                )
            return root
        step = self.parse_step()
        return self._parse_more(y.Slash(root, step, self.span_from(start)), start)

    def _parse_more(self, left: y.Expression, start: int) -> y.Expression:
        """Parse what follows a step, from slash to slash."""
        steps = 0
        while self.is_symbol("/", "//"):
            token = self.advance()
            steps += 1
            if steps > STEPS_MAX:
                message = f"the path has more than {STEPS_MAX} steps"
                way_out = "replace a part of it by //"
                raise QueryError("PQ0105", message, token.span, way_out, self.text)
            if token.text == "//":
                every = y.Step(
                    Axis.DESCENDANT_OR_SELF, y.KindTest("node", token.span), (), token.span
                )
                left = y.Slash(left, every, self.span_from(start))
            if not self.begins_step():
                raise self.unexpected("a step")
            left = y.Slash(left, self.parse_step(), self.span_from(start))
        return left

    def begins_step(self) -> bool:
        """Return whether the next token begins a step or a primary expression."""
        token = self.token
        if token.kind is TokenKind.SYMBOL:
            return token.text in ("(", ".", "..", "@", "*", "$", "(#") or (
                token.text[0] == "<" and _DIRECT.match(self.text, token.start) is not None
            )
        return token.kind in (TokenKind.NAME, TokenKind.WILDCARD, *_LITERALS)

    def parse_step(self) -> y.Expression:
        """Parse an axis step, or a primary expression with predicates."""
        token = self.token
        if self.is_symbol(".."):
            self.advance()
            return self._step(Axis.PARENT, y.KindTest("node", token.span), token.start)
        if self.is_symbol("@"):
            self.advance()
            return self._step(Axis.ATTRIBUTE, self.parse_test(), token.start)
        if self.is_symbol("*") or token.kind is TokenKind.WILDCARD:
            return self._step(Axis.CHILD, self.parse_test(), token.start)
        if token.kind is TokenKind.NAME:
            following = self.peek()
            if following.text == "::":
                axis = self.parse_axis()
                return self._step(axis, self.parse_test(), token.start)
            if following.text == "(" and token.text in KIND_TESTS:
                test = self.parse_kind_test()
                is_attribute = test.kind == "attribute"
                return self._step(Axis.ATTRIBUTE if is_attribute else Axis.CHILD, test, token.start)
            if not self.begins_primary(token, following):
                return self._step(Axis.CHILD, self.parse_test(), token.start)
        primary = self.parse_primary()
        predicates = self.parse_predicates()
        if not predicates:
            return primary
        return y.Filter(primary, predicates, self.span_from(token.start))

    def _step(self, axis: Axis, test: y.NameTest | y.KindTest, start: int) -> y.Step:
        predicates = self.parse_predicates()
        return y.Step(axis, test, predicates, self.span_from(start))

    def parse_axis(self) -> Axis:
        """Parse the name of an axis and its ``::``."""
        token = self.advance()
        if token.text == "namespace":
            raise rejection("namespace axis", token.span, self.text)
        if token.text not in _AXES:
            close = get_close_matches(token.text, _AXES, 1)
            known = close[0] if close else ", ".join(_AXES)
            message = f"`{token.text}` is no axis"
            raise self.error("PQ0107", message, token.span, f"XQuery has {known}")
        self.expect("::")
        return _AXES[token.text]

    def parse_test(self) -> y.NameTest | y.KindTest:
        """Parse a node test."""
        token = self.token
        if self.is_symbol("*"):
            self.advance()
            return y.NameTest("*", None, token.span)
        if token.kind is TokenKind.WILDCARD:
            self.advance()
            prefix, _, local = token.text.partition(":")
            return y.NameTest(prefix, None if local == "*" else local, token.span)
        if token.kind is not TokenKind.NAME:
            raise self.unexpected("a node test")
        if self.peek().text == "(" and token.text in KIND_TESTS:
            return self.parse_kind_test()
        name = self.name_of(self.advance())
        return y.NameTest(name.prefix, name.local, token.span)

    def parse_predicates(self) -> tuple[y.Expression, ...]:
        """Parse any number of predicates."""
        predicates = []
        while self.is_symbol("["):
            self.advance()
            predicates.append(self.parse_expression())
            self.expect("]")
        return tuple(predicates)

    def begins_primary(self, token: Token, following: Token) -> bool:
        """Return whether a name begins a call or a constructor, and is no name test."""
        raise NotImplementedError

    def parse_primary(self) -> y.Expression:
        """Parse a literal, a variable, a call, a constructor or parentheses."""
        raise NotImplementedError
