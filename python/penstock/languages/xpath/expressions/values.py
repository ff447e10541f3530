"""Strings and numbers, and the calls that make them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.functions import AGGREGATES, NAME_PARTS, Type
from penstock.twigs import ValueType
from penstock.twigs import expressions as x

if TYPE_CHECKING:
    from penstock.languages.xpath.expressions.lowering import ExpressionLowering, Focus


def lower_value(lowering: ExpressionLowering, expression: s.Expression, focus: Focus) -> x.Atom:
    """Return the value of an expression that is no node-set, in its own type."""
    match expression:
        case s.Literal(value=value) | s.Number(value=value):
            return lowering.slots.add(value)
        case s.Variable():
            return lowering.slots.add(lowering.value_of(expression))
        case s.Negate(operand=operand):
            return x.Call("negate", (lowering.number(operand, focus),))
        case s.Binary(operator=operator, left=left, right=right) if operator in s.ARITHMETIC:
            first = lowering.number(left, focus)
            return x.Call(operator, (first, lowering.number(right, focus)))
        case s.FunctionCall() if lowering.type_of(expression) is not Type.BOOLEAN:
            return lower_call(lowering, expression, focus)
        case _:
            return lowering.truth(expression, focus)


def lower_string(lowering: ExpressionLowering, expression: s.Expression, focus: Focus) -> x.Atom:
    """Return ``string(expression)``; of a node-set, that of its first node."""
    if lowering.type_of(expression) is Type.NODES:
        return x.StringOf(lowering.nodes(expression, focus))
    return convert("string", lowering.value(expression, focus))


def lower_number(lowering: ExpressionLowering, expression: s.Expression, focus: Focus) -> x.Atom:
    """Return ``number(expression)``; of a node-set, that of its first node."""
    if lowering.type_of(expression) is Type.NODES:
        return convert("number", lowering.string(expression, focus))
    return convert("number", lowering.value(expression, focus))


def lower_call(lowering: ExpressionLowering, call: s.FunctionCall, focus: Focus) -> x.Atom:
    """Lower a call whose value is a string or a number."""
    lowering.check_call(call)
    match call.name:
        case "position" | "last":
            if focus.is_predicate:
                return x.Position() if call.name == "position" else x.Last()
            return lowering.slots.add(1.0)  # the only node there is
        case "count":
            return x.Count(lowering.nodes(call.arguments[0], focus))
        case "sum":
            return x.Sum(lowering.nodes(call.arguments[0], focus))
        case name if name in AGGREGATES:
            message = f"`{name}()` is a whole query, not a part of one"
            way_out = f"make {name}(…) the whole query"
            raise lowering.error("PQ0208", message, call.span, way_out)
        case name if name in NAME_PARTS:
            named = lowering.nodes(call.arguments[0], focus) if call.arguments else focus.here
            return x.NameOf(name, named)
        case "string" if not call.arguments:
            return x.StringOf(focus.here)
        case "string":
            return lower_string(lowering, call.arguments[0], focus)
        case "number" if call.arguments:
            return lower_number(lowering, call.arguments[0], focus)
    return x.Call(call.name, lower_arguments(lowering, call, focus))


def lower_arguments(
    lowering: ExpressionLowering, call: s.FunctionCall, focus: Focus
) -> tuple[x.Atom, ...]:
    """Return the arguments in the types that the function asks for."""
    if not call.arguments:
        return (x.StringOf(focus.here),)
    return tuple(
        lowering.number(argument, focus)
        if wanted is Type.NUMBER
        else lowering.string(argument, focus)
        for wanted, argument in lowering.typed_arguments(call)
    )


def convert(function: str, atom: x.Atom) -> x.Atom:
    """Return ``string``, ``number`` or ``boolean`` of an atom; the atom where it is one."""
    return atom if x.type_of(atom) is ValueType(function) else x.Call(function, (atom,))
