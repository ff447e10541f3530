"""The built-in functions, by the definitions of the functions and operators of XQuery 1.0."""

from __future__ import annotations

from penstock.twigs.expressions import Call
from penstock_testing.sequences.casting import cast, is_type
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import mistyped
from penstock_testing.sequences.functions import (
    aggregates,
    names,
    nodes,
    numbers,
    patterns,
    sequences,
    strings,
    times,
)
from penstock_testing.sequences.functions.table import FUNCTIONS, argument
from penstock_testing.sequences.items import Items, atomize, one_at_most

__all__ = ["FUNCTIONS", "call"]

# Every module enters its functions into the table.
_MODULES = (aggregates, names, nodes, numbers, patterns, sequences, strings, times)


def call(expression: Call, context: Context) -> Items:
    """Return the value of a built-in function.

    Raises:
        DynamicError: An argument has the wrong type, or the function fails.
    """
    given = [context.items(part) for part in expression.arguments]
    name = expression.function
    if name.startswith("xs:"):
        atom = one_at_most(atomize(given[0]), name)
        target = name.removeprefix("xs:")
        assert is_type(target), name
        return [] if atom is None else [cast(atom, target)]
    function = FUNCTIONS[name]
    if not function.least <= len(given) <= function.most:
        raise mistyped(f"{name} does not take {len(given)} arguments")
    converted = [
        argument(items, function.parameter(place), f"argument {place + 1} of {name}")
        for place, items in enumerate(given)
    ]
    return function.body(context, *converted)
