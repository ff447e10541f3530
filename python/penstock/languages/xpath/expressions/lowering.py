"""The expression that a text is, with its context and with values beside its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.languages.xpath.expressions.nodes import lower_nodes, lower_step
from penstock.languages.xpath.expressions.truths import lower_truth
from penstock.languages.xpath.expressions.values import lower_number, lower_string, lower_value
from penstock.languages.xpath.functions import AGGREGATES, Type
from penstock.languages.xpath.scopes import Scope
from penstock.languages.xpath.syntax import Expression, FunctionCall
from penstock.twigs import expressions as x


@dataclass(frozen=True, slots=True)
class Focus:
    """Where an expression is evaluated: at which node, and whether it has a position there."""

    here: x.Nodes
    is_predicate: bool


UNDER_TEST = Focus(x.Here(), True)
"""Inside a predicate: at the node under test."""
AT_RESULT = Focus(x.Here(), False)
"""At the node that a query reports."""


class ExpressionLowering(Scope):
    """Lowers one text. The parts of the work live in modules of their own and meet here."""

    nodes = lower_nodes
    step = lower_step
    value = lower_value
    string = lower_string
    number = lower_number
    truth = lower_truth

    def predicate(self, expression: Expression) -> x.Atom:
        """Return a predicate as a truth value; a number asks for a position (section 2.4)."""
        if self.type_of(expression) is Type.NUMBER:
            return x.Compare("=", x.Position(), self.value(expression, UNDER_TEST))
        return self.truth(expression, UNDER_TEST)


@dataclass(frozen=True, slots=True)
class Asked:
    """A text with its syntax tree, and the lowering that knows its namespaces and variables."""

    expression: Expression
    lowering: ExpressionLowering
    is_list: bool = False
    """Beside a result: all nodes of a path instead of the first."""

    def beside(self) -> x.Expression:
        """Return what it is beside a result: a set, or text.

        Raises:
            QueryError: It is a list, and no path.
        """
        if self.is_list:
            return x.ListedStrings(self.lowering.nodes(self.expression, AT_RESULT))
        if self.lowering.type_of(self.expression) is Type.NODES:
            return self.lowering.nodes(self.expression, AT_RESULT)
        return self.lowering.string(self.expression, AT_RESULT)


def lower_selection(
    asked: Asked, context: Asked | None = None, select: Mapping[str, Asked] | None = None
) -> x.Selection:
    """Return what a query selects: nodes, an aggregate over nodes, or one value.

    It starts at the document node, or at the first node of ``context``; all lowerings share one
    table of constants.

    Raises:
        QueryError: Something is unknown, or of a type that cannot stand where it stands.
    """
    lowering, expression = asked.lowering, asked.expression
    focus = Focus(x.Root() if context is None else _first_node(context), False)
    beside = tuple((name, one.beside()) for name, one in (select or {}).items())
    match expression:
        case FunctionCall(name=name) if name in AGGREGATES:
            lowering.check_call(expression)
            selection = x.Selection(lowering.nodes(expression.arguments[0], focus), aggregate=name)
        case _ if lowering.type_of(expression) is Type.NODES:
            selection = x.Selection(lowering.nodes(expression, focus), beside=beside)
        case _:
            value = lowering.value(expression, focus)
            selection = x.Selection(value, x.type_of(value))
    if beside and not selection.beside:
        way_out = "select beside the nodes of a path"
        message = "a value has no nodes beside which others could be selected"
        raise lowering.error("PQ0120", message, expression.span, way_out)
    return selection


def _first_node(context: Asked) -> x.Nodes:
    nodes = context.lowering.nodes(context.expression, Focus(x.Root(), False))
    if nodes == x.Root():
        return nodes
    return x.Filter(nodes, (x.Compare("=", x.Position(), context.lowering.slots.add(1.0)),))
