"""Recursive descent over the full grammar of XPath 1.0."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import TypeVar

from penstock.errors import QueryError
from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.skeletons import KEPT_NAMES
from penstock.languages.xpath.tokens import Token, TokenKind, tokenize
from penstock.twigs import Axis
from penstock.twigs.blanks import Beside, Trace

T = TypeVar("T", str, float)

NESTING_MAX = 48
"""Brackets, parentheses and operators inside each other."""

STEPS_MAX = 256
"""Steps of one path, an abbreviated ``//`` counted as a step."""

_LEVELS = {
    "or": 1,
    "and": 2,
    "=": 3,
    "!=": 3,
    "<": 4,
    "<=": 4,
    ">": 4,
    ">=": 4,
    "+": 5,
    "-": 5,
    "*": 6,
    "div": 6,
    "mod": 6,
}
# What other languages write, and what XPath 1.0 writes instead.
_ELSEWHERE = {
    "eq": "XPath 1.0 writes = for eq",
    "ne": "XPath 1.0 writes != for ne",
    "lt": "XPath 1.0 writes < for lt",
    "le": "XPath 1.0 writes <= for le",
    "gt": "XPath 1.0 writes > for gt",
    "ge": "XPath 1.0 writes >= for ge",
    "union": "XPath 1.0 writes | for union",
    "idiv": "XPath 1.0 writes floor(a div b) for a idiv b",
    "intersect": "write a condition instead: //a[b and c]",
    "except": "write a condition instead: //a[not(b)]",
    "AND": "XPath writes and in small letters",
    "OR": "XPath writes or in small letters",
    "contains": "write contains(a, 'x'), or use the dialect xsq",
    "return": "this is XQuery; an XPath query is one expression",
    "then": "this is a later version of XPath; use a predicate for the condition",
    "in": "this is a later version of XPath; a path goes over all nodes by itself",
    "=": "XPath writes = once",
}
_NODE_TYPES = frozenset({"node", "text", "comment", "processing-instruction"})


class Parser:
    """Parses one text; a dialect overrides the steps that it writes differently."""

    operator_names = frozenset({"and", "or", "div", "mod"})
    axes: Mapping[str, Axis] = MappingProxyType({axis.value: axis for axis in Axis})

    def __init__(self, text: str, trace: Trace | Beside | None = None) -> None:
        self.text = text
        self.trace = trace
        self.tokens = tokenize(text, self.operator_names)
        self.index = 0
        self.nesting = 0

    def parse(self) -> s.Expression:
        """Return the expression that the whole text is.

        Raises:
            QueryError: It is none; the span covers the first token that does not fit.
        """
        expression = self.parse_expression()
        if self.token.kind is not TokenKind.END:
            raise self.unexpected("an operator or the end of the query")
        return expression

    # Tokens

    @property
    def token(self) -> Token:
        """Return the token that comes next."""
        return self.tokens[self.index]

    def peek(self, ahead: int = 1) -> Token:
        """Return a token after the next one; past the end it is the end."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def advance(self) -> Token:
        """Take the next token."""
        token = self.token
        if token.kind is not TokenKind.END:
            self.index += 1
        return token

    def is_symbol(self, *texts: str) -> bool:
        """Return whether the next token is one of these symbols or operators."""
        token = self.token
        return token.kind in (TokenKind.SYMBOL, TokenKind.OPERATOR) and token.text in texts

    def expect(self, text: str) -> Token:
        """Take the symbol ``text`` or raise."""
        if not self.is_symbol(text):
            raise self.unexpected(f"`{text}`")
        return self.advance()

    def span_from(self, start: int) -> s.Span:
        """Return the span from ``start`` to the end of the last token taken."""
        return start, self.tokens[self.index - 1].end

    def error(self, code: str, message: str, span: s.Span, way_out: str) -> QueryError:
        """Return an error about this text."""
        return QueryError(code, message, span, way_out, self.text)

    def unexpected(self, wanted: str) -> QueryError:
        """Return the error that ``wanted`` should stand where the next token stands."""
        token = self.token
        if token.kind is TokenKind.END:
            message = f"the query ends where {wanted} should follow"
            return self.error("PQ0104", message, token.span, f"add {wanted}")
        message = f"`{token.text}` cannot stand here"
        way_out = _ELSEWHERE.get(token.text, f"{wanted} should stand here")
        before = self.peek(-1) if self.index else token
        if before.kind is TokenKind.NUMBER and token.text[0] in "eE" and before.end == token.start:
            way_out = "XPath 1.0 has no exponents; write the number with all its digits"
        return self.error("PQ0103", message, token.span, way_out)

    def nested(self, parse: Callable[[], s.Expression], span: s.Span) -> s.Expression:
        """Parse one level deeper."""
        self.nesting += 1
        if self.nesting > NESTING_MAX:
            raise self.too_deep(span)
        expression = parse()
        self.nesting -= 1
        return expression

    def too_deep(self, span: s.Span) -> QueryError:
        """Return the error about nesting."""
        message = f"the query nests more than {NESTING_MAX} levels"
        way_out = "use fewer parentheses and predicates inside each other"
        return self.error("PQ0105", message, span, way_out)

    # Operators

    def parse_expression(self, level: int = 1) -> s.Expression:
        """Parse operators that bind at least as tightly as ``level``."""
        start = self.token.start
        left = self.parse_unary()
        links = 0
        while self.token.kind is TokenKind.OPERATOR:
            operator = self.normal_operator(self.token.text)
            own = _LEVELS.get(operator, 0)
            if own < level:
                break
            span = self.advance().span
            right = self.parse_operand(own + 1, operator)
            # `a and b and c` is flat, however long; `1 - 2 - 3` leans to the left and is bounded.
            links += operator not in ("and", "or")
            if links > NESTING_MAX:
                raise self.too_deep(span)
            left = self.combine(operator, left, right, self.span_from(start))
        return left

    def normal_operator(self, text: str) -> str:
        """Return the operator as XPath 1.0 writes it."""
        return text

    def parse_operand(self, level: int, operator: str) -> s.Expression:
        """Parse the right operand of ``operator``."""
        return self.parse_expression(level)

    def combine(
        self, operator: str, left: s.Expression, right: s.Expression, span: s.Span
    ) -> s.Expression:
        """Return ``left operator right``."""
        if operator not in ("and", "or"):
            return s.Binary(operator, left, right, span)
        if isinstance(left, s.Logical) and left.operator == operator and left.span[0] == span[0]:
            return s.Logical(operator, (*left.parts, right), span)
        return s.Logical(operator, (left, right), span)

    def parse_unary(self) -> s.Expression:
        """Parse ``-x`` or a union."""
        if self.is_symbol("-"):
            token = self.advance()
            operand = self.nested(self.parse_unary, token.span)
            return s.Negate(operand, self.span_from(token.start))
        start = self.token.start
        parts = [self.parse_path()]
        while self.is_symbol("|"):
            self.advance()
            parts.append(self.parse_path())
        return parts[0] if len(parts) == 1 else s.Union(tuple(parts), self.span_from(start))

    # Paths

    def parse_path(self) -> s.Expression:
        """Parse a location path or a primary expression, perhaps with a path after it."""
        start = self.token.start
        if self.is_symbol("/"):
            self.advance()
            steps = self.parse_steps() if self.starts_step() else []
            return s.Path(True, tuple(steps), self.span_from(start))
        if self.is_symbol("//"):
            steps = self.parse_more_steps([])
            return s.Path(True, tuple(steps), self.span_from(start))
        if self.starts_step():
            steps = self.parse_steps()
            return s.Path(False, tuple(steps), self.span_from(start))
        primary = self.parse_primary()
        predicates = self.parse_predicates()
        if predicates:
            primary = s.Filter(primary, predicates, self.span_from(start))
        if self.is_symbol("/", "//"):
            steps = self.parse_more_steps([])
            return s.Path(False, tuple(steps), self.span_from(start), primary)
        return primary

    def starts_step(self) -> bool:
        """Return whether the next token begins a location step."""
        token = self.token
        if token.kind is TokenKind.NAME:
            is_call = self.peek().text == "(" and token.text not in _NODE_TYPES
            return not is_call or token.text == "*"
        return token.kind is TokenKind.SYMBOL and token.text in (".", "..", "@")

    def parse_steps(self) -> list[s.Step]:
        """Parse a relative location path."""
        return self.parse_more_steps([self.parse_step()])

    def parse_more_steps(self, steps: list[s.Step]) -> list[s.Step]:
        """Parse what follows, from ``/`` to ``/``."""
        while self.is_symbol("/", "//"):
            self.parse_next_step(steps)
        return steps

    def parse_next_step(self, steps: list[s.Step]) -> None:
        """Parse one ``/`` or ``//`` and the step after it."""
        token = self.advance()
        if token.text == "//":
            steps.append(any_descendant(token.span))
        if not self.starts_step():
            raise self.unexpected("a step")
        steps.append(self.parse_step())
        if len(steps) > STEPS_MAX:
            message = f"the path has more than {STEPS_MAX} steps"
            way_out = "replace a part of it by //"
            raise self.error("PQ0105", message, steps[-1].span, way_out)

    def parse_step(self) -> s.Step:
        """Parse one step with its predicates."""
        token = self.token
        if self.is_symbol(".", ".."):
            self.advance()
            axis = Axis.SELF if token.text == "." else Axis.PARENT
            if self.is_symbol("["):
                message = f"`{token.text}` takes no predicate"
                way_out = f"write {axis.value}::node()[…]"
                raise self.error("PQ0103", message, self.token.span, way_out)
            return s.Step(axis, s.KindTest("node", None, token.span), (), token.span, token.span)
        axis = Axis.CHILD
        axis_span = (token.start, token.start)
        if self.is_symbol("@"):
            self.advance()
            axis, axis_span = Axis.ATTRIBUTE, token.span
        elif token.kind is TokenKind.NAME and self.peek().text == "::":
            axis = self.parse_axis()
            axis_span = self.span_from(token.start)
        test = self.parse_test()
        predicates = self.parse_predicates()
        return s.Step(axis, test, predicates, self.span_from(token.start), axis_span)

    def parse_axis(self) -> Axis:
        """Parse the name of an axis and its ``::``."""
        token = self.advance()
        if token.text not in self.axes:
            close = get_close_matches(token.text, self.axes, 1)
            known = close[0] if close else ", ".join(self.axes)
            message = f"`{token.text}` is no axis"
            raise self.error("PQ0107", message, token.span, f"XPath has {known}")
        self.expect("::")
        return self.axes[token.text]

    def parse_test(self) -> s.NameTest | s.KindTest:
        """Parse a node test."""
        token = self.token
        if token.kind is not TokenKind.NAME:
            raise self.unexpected("a node test")
        self.advance()
        if self.is_symbol("(") and token.text != "*":
            return self.parse_kind_test(token)
        if token.text == "*":
            return s.NameTest(None, None, token.span)
        prefix, colon, local = token.text.rpartition(":")
        name = None if local == "*" else self.name(local)
        return s.NameTest(prefix if colon else None, name, token.span)

    def parse_kind_test(self, token: Token) -> s.KindTest:
        """Parse the parentheses of a node type."""
        if token.text not in _NODE_TYPES:
            message = f"`{token.text}` is no node test"
            way_out = "a test is a name, *, node(), text(), comment() or processing-instruction()"
            raise self.error("PQ0103", message, token.span, way_out)
        self.expect("(")
        target = None
        if token.text == "processing-instruction" and self.token.kind is TokenKind.LITERAL:
            target = self.advance().text[1:-1]
        self.expect(")")
        return s.KindTest(token.text, target, self.span_from(token.start))

    def parse_predicates(self) -> tuple[s.Expression, ...]:
        """Parse any number of predicates."""
        predicates = []
        while self.is_symbol("["):
            token = self.advance()
            predicates.append(self.nested(self.parse_expression, token.span))
            self.expect("]")
        return tuple(predicates)

    # Primary expressions

    def parse_primary(self) -> s.Expression:
        """Parse a variable, a literal, a number, a call or a parenthesised expression."""
        token = self.token
        if token.kind is TokenKind.NAME:
            return self.parse_call()
        if token.kind is TokenKind.LITERAL:
            self.advance()
            return s.Literal(self.constant(token.text[1:-1]), token.span)
        if token.kind is TokenKind.NUMBER:
            self.advance()
            return s.Number(self.constant(float(token.text)), token.span)
        if token.kind is TokenKind.VARIABLE:
            self.advance()
            return s.Variable(token.text[1:].strip(" \t\r\n"), token.span)
        if self.is_symbol("("):
            self.advance()
            expression = self.nested(self.parse_expression, token.span)
            self.expect(")")
            return expression
        raise self.unexpected("an expression")

    def constant(self, value: T) -> T:
        """Return a constant, or the blank that stands for it."""
        if self.trace is None:
            return value
        blank: T = self.trace.blank(value)
        return blank

    def name(self, name: str) -> str:
        """Return a name of nodes, or the blank that stands for it."""
        if self.trace is None or name in KEPT_NAMES:
            return name
        return self.trace.name(name)

    def parse_call(self) -> s.FunctionCall:
        """Parse a function call."""
        name = self.advance()
        self.expect("(")
        arguments: list[s.Expression] = []
        if not self.is_symbol(")"):
            arguments.append(self.nested(self.parse_expression, name.span))
            while self.is_symbol(","):
                self.advance()
                arguments.append(self.nested(self.parse_expression, name.span))
        self.expect(")")
        span = self.span_from(name.start)
        return s.FunctionCall(name.text, tuple(arguments), span, name.span)


def any_descendant(span: s.Span) -> s.Step:
    """Return the step that ``//`` abbreviates."""
    return s.Step(Axis.DESCENDANT_OR_SELF, s.KindTest("node", None, span), (), span, span)
