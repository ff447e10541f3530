"""Lowering of expressions whose value is a string, a number or a boolean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.chains import Chain, Context
from penstock.languages.xpath.functions import AGGREGATES, CONDITIONS, NAME_PARTS, Type
from penstock.twigs import patterns as t
from penstock.twigs.parts import leaves
from penstock.twigs.queries import NoTwigError

if TYPE_CHECKING:
    from penstock.languages.xpath.lowering import Lowering

_BEYOND_TWIGS = AGGREGATES | {"id", "position", "last", "lang"}

VALUE_VARIABLE = "value"
"""Marks the node of a twig inside ``StringOf`` and ``NameOf`` whose value is taken."""


def lower_scalar(lowering: Lowering, expression: s.Expression, context: Context) -> t.Scalar:
    """Return the value of an expression that is no node-set, in its own type."""
    match expression:
        case s.Literal(value=value) | s.Number(value=value):
            return lowering.slots.add(value)
        case s.Variable():
            return lowering.slots.add(lowering.value_of(expression))
        case s.Negate(operand=operand):
            return t.Call("negate", (lowering.number(operand, context),))
        case s.Binary(operator=operator, left=left, right=right) if operator in s.ARITHMETIC:
            first = lowering.number(left, context)
            return t.Call(operator, (first, lowering.number(right, context)))
        case s.FunctionCall(name=name) if name not in CONDITIONS:
            return lower_call(lowering, expression, context)
        case _:
            return t.BooleanOf(lowering.condition(expression, context))


def lower_string(lowering: Lowering, expression: s.Expression, context: Context) -> t.Scalar:
    """Return ``string(expression)``; of a node-set, that of its first node."""
    if lowering.type_of(expression) is Type.NODES:
        chains = lowering.chains(expression, context)
        if not chains:
            return lowering.slots.add("")
        return string_of_chain(only_chain(chains))
    return to_string(lowering.scalar(expression, context))


def lower_number(lowering: Lowering, expression: s.Expression, context: Context) -> t.Scalar:
    """Return ``number(expression)``; of a node-set, that of its first node."""
    if lowering.type_of(expression) is Type.NODES:
        return to_number(lower_string(lowering, expression, context))
    return to_number(lowering.scalar(expression, context))


def lower_call(lowering: Lowering, call: s.FunctionCall, context: Context) -> t.Scalar:
    """Lower a call whose value is a string or a number, and ``contains`` and ``starts-with``."""
    lowering.check_call(call)
    if call.name in _BEYOND_TWIGS:
        raise NoTwigError(f"`{call.name}()` is part of a value or of a condition")
    if call.name in NAME_PARTS:
        return lower_name(lowering, call, context)
    if call.name == "string" and call.arguments:
        return lower_string(lowering, call.arguments[0], context)
    if call.name == "number" and call.arguments:
        return lower_number(lowering, call.arguments[0], context)
    if not call.arguments:  # the string value of the context node is implied
        return t.StringOf() if call.name == "string" else t.Call(call.name, (t.StringOf(),))
    arguments = [
        (lower_number if wanted is Type.NUMBER else lower_string)(lowering, argument, context)
        for wanted, argument in lowering.typed_arguments(call)
    ]
    return t.Call(call.name, tuple(arguments))


def lower_name(lowering: Lowering, call: s.FunctionCall, context: Context) -> t.Scalar:
    """Lower ``name()``, ``local-name()`` or ``namespace-uri()``."""
    if not call.arguments:
        return t.NameOf(call.name)
    chains = lowering.chains(call.arguments[0], context)
    if not chains:
        return lowering.slots.add("")
    chain = only_chain(chains)
    return t.NameOf(call.name, chain.twig([(VALUE_VARIABLE, ())]), chain.absolute)


def only_chain(chains: list[Chain]) -> Chain:
    """Return the one chain.

    Raises:
        NoTwigError: The first node of a union is no twig's.
    """
    if len(chains) > 1:
        raise NoTwigError("the value of a union is taken")
    return chains[0]


def string_of_chain(chain: Chain) -> t.Scalar:
    """Return the string value of the first node of a chain."""
    return t.StringOf(chain.twig([(VALUE_VARIABLE, ())]), chain.absolute)


def to_string(scalar: t.Scalar) -> t.Scalar:
    """Return the scalar as a string."""
    return scalar if t.type_of(scalar) is t.ValueType.STRING else t.Call("string", (scalar,))


def to_number(scalar: t.Scalar) -> t.Scalar:
    """Return the scalar as a number."""
    return scalar if t.type_of(scalar) is t.ValueType.NUMBER else t.Call("number", (scalar,))


def is_constant(scalar: t.Scalar) -> bool:
    """Return whether the scalar has one value, whatever the document."""
    return all(isinstance(leaf, t.Slot) for leaf in leaves(scalar))
