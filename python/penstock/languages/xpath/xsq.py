"""The dialect of XSQ (Peng and Chawathe), the forms that its papers write.

An output function ends a path (``//a/count()``), a first step without an axis means ``//``,
``[a@b = 1]`` is short for ``[a/@b = 1]``, and ``[a contains "x"]`` holds if some ``a`` contains
the string. ``d::``, ``a::`` and ``p::`` are the axes descendant, ancestor and parent. ``AND``,
``OR`` and ``NOT()`` may be written in capitals.

A predicate is a query of its own and starts at its element: ``[//x]`` looks below the element,
and only ``[/x]`` starts at the root. The right side of its comparisons is a constant, so a word
there needs no quotes: ``[@subject = astronomy]``.
"""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.functions import AGGREGATES
from penstock.languages.xpath.parser import Parser, any_descendant
from penstock.languages.xpath.tokens import Token, TokenKind
from penstock.twigs import Axis
from penstock.twigs.blanks import Beside, Trace

_CAPITALS = {"AND": "and", "OR": "or"}
_COMPARISONS = frozenset({"=", "!=", "<", "<=", ">", ">="})
_AFTER_WORDS = frozenset({"]", ")", "and", "or", "AND", "OR"})


class XsqParser(Parser):
    """Parses the dialect into the syntax tree of XPath 1.0."""

    operator_names = Parser.operator_names | {"contains", "AND", "OR"}
    axes = MappingProxyType(
        {**Parser.axes, "d": Axis.DESCENDANT, "a": Axis.ANCESTOR, "p": Axis.PARENT}
    )

    def __init__(self, text: str, trace: Trace | Beside | None = None) -> None:
        super().__init__(text, trace)
        self.output: Token | None = None
        self.predicates = 0
        """Predicates around the next token."""

    def parse(self) -> s.Expression:
        """Return the expression; an output function becomes a call around the path."""
        expression = super().parse()
        if self.output is None:
            return expression
        if not isinstance(expression, s.Path):
            message = f"`{self.output.text}()` is an output function, and ends a path"
            way_out = "write the path alone, with the function as its last step"
            raise self.error("PQ0103", message, self.output.span, way_out)
        span = expression.span
        return s.FunctionCall(self.output.text, (expression,), span, self.output.span)

    def parse_path(self) -> s.Expression:
        """Parse a path; in a predicate, ``//`` starts at the element of the predicate."""
        below = self.is_symbol("//")
        path = super().parse_path()
        if not isinstance(path, s.Path) or path.start is not None:
            return path
        if self.predicates:
            return replace(path, absolute=path.absolute and not below)
        return path if path.absolute else self.from_anywhere(path)

    def parse_predicates(self) -> tuple[s.Expression, ...]:
        self.predicates += 1
        predicates = super().parse_predicates()
        self.predicates -= 1
        return predicates

    def from_anywhere(self, path: s.Path) -> s.Path:
        """Return the path with the axis that the dialect implies."""
        first = path.steps[0]
        if first.axis not in (Axis.CHILD, Axis.ATTRIBUTE):
            return path
        steps = (any_descendant(first.axis_span), *path.steps)
        return s.Path(True, steps, path.span)

    def parse_operand(self, level: int, operator: str) -> s.Expression:
        """Parse the right operand; a word that is compared in a predicate is a constant."""
        if self.predicates and operator in _COMPARISONS and self.is_word():
            return self.parse_word()
        return super().parse_operand(level, operator)

    def is_word(self) -> bool:
        """Return whether a name comes next that is the whole operand."""
        token, after = self.token, self.peek()
        is_name = token.kind is TokenKind.NAME and ":" not in token.text and token.text != "*"
        return is_name and (after.kind is TokenKind.END or after.text in _AFTER_WORDS)

    def parse_word(self) -> s.Expression:
        """Parse a string without quotes."""
        token = self.advance()
        return s.Literal(self.constant(token.text), token.span)

    def normal_operator(self, text: str) -> str:
        return _CAPITALS.get(text, text)

    def parse_more_steps(self, steps: list[s.Step]) -> list[s.Step]:
        while True:
            if self.nesting == 0 and self.is_symbol("/") and self.is_output(1):
                self.advance()
                self.output = self.advance()
                self.expect("(")
                self.expect(")")
                return steps
            if self.is_symbol("@") and steps:
                steps.append(self.parse_step())
            elif self.is_symbol("/", "//"):
                self.parse_next_step(steps)
            else:
                return steps

    def is_output(self, ahead: int) -> bool:
        """Return whether a call without arguments of an output function comes next."""
        texts = [self.peek(ahead + index).text for index in range(3)]
        return texts[0] in AGGREGATES and texts[1:] == ["(", ")"]

    def parse_unary(self) -> s.Expression:
        operand = super().parse_unary()
        if not self.is_symbol("contains"):
            return operand
        operator = self.advance()
        right = self.parse_word() if self.is_word() else super().parse_unary()
        span = (operand.span[0], right.span[1])
        if not isinstance(right, s.Literal | s.Number | s.Variable):
            # Another path would be evaluated from the nodes on the left.
            message = "`contains` needs a string on its right"
            way_out = "write [a contains 'x'], or contains(value, other)"
            raise self.error("PQ0103", message, right.span, way_out)
        if not isinstance(operand, s.Path) or not operand.steps:
            message = "`contains` needs a path on its left"
            way_out = "write [a contains 'x'], or contains(value, 'x')"
            raise self.error("PQ0103", message, operator.span, way_out)
        return containing(operand, right, span, operator.span)

    def parse_call(self) -> s.FunctionCall:
        call = super().parse_call()
        return replace(call, name="not") if call.name == "NOT" else call


def containing(path: s.Path, right: s.Expression, span: s.Span, operator: s.Span) -> s.Path:
    """Return the nodes of the path that contain a string."""
    last = path.steps[-1]
    here = s.Step(Axis.SELF, s.KindTest("node", None, operator), (), operator, operator)
    context = s.Path(False, (here,), operator)
    call = s.FunctionCall("contains", (context, right), span, operator)
    step = replace(last, predicates=(*last.predicates, call))
    return replace(path, steps=(*path.steps[:-1], step), span=span)
