"""The dialect of XSQ (Peng and Chawathe), the forms that its papers write.

An output function ends a path (``//a/count()``), a first step without an axis means ``//``,
``[a@b = 1]`` is short for ``[a/@b = 1]``, and ``[a contains "x"]`` holds if some ``a`` contains
the string. ``AND``, ``OR`` and ``NOT()`` may be written in capitals.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.functions import AGGREGATES
from penstock.languages.xpath.parser import Parser, any_descendant
from penstock.languages.xpath.tokens import Token
from penstock.twigs import Axis
from penstock.twigs.blanks import Beside, Trace

_CAPITALS = {"AND": "and", "OR": "or"}


class XsqParser(Parser):
    """Parses the dialect into the syntax tree of XPath 1.0."""

    operator_names = Parser.operator_names | {"contains", "AND", "OR"}

    def __init__(self, text: str, trace: Trace | Beside | None = None) -> None:
        super().__init__(text, trace)
        self.output: Token | None = None

    def parse(self) -> s.Expression:
        """Return the expression; an output function becomes a call around the path."""
        expression = super().parse()
        if isinstance(expression, s.Path) and expression.start is None and not expression.absolute:
            expression = self.from_anywhere(expression)
        if self.output is None:
            return expression
        if not isinstance(expression, s.Path):
            message = f"`{self.output.text}()` is an output function, and ends a path"
            way_out = "write the path alone, with the function as its last step"
            raise self.error("PQ0103", message, self.output.span, way_out)
        span = expression.span
        return s.FunctionCall(self.output.text, (expression,), span, self.output.span)

    def from_anywhere(self, path: s.Path) -> s.Path:
        """Return the path with the axis that the dialect implies."""
        first = path.steps[0]
        if first.axis not in (Axis.CHILD, Axis.ATTRIBUTE):
            return path
        steps = (any_descendant(first.axis_span), *path.steps)
        return s.Path(True, steps, path.span)

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
        right = super().parse_unary()
        span = (operand.span[0], right.span[1])
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
