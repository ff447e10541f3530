"""FLWOR, quantifiers, and calls of declared functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.twigs import sequences as q
from penstock_testing.sequences.comparing import order_key
from penstock_testing.sequences.context import Context
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.items import Atom, Items, boolean, integer, string
from penstock_testing.sequences.matching import converted, is_instance


def flwor(expression: q.Flwor, context: Context) -> Items:
    """Return the results of all tuples."""
    tuples: Iterable[Context] = [context]
    for clause in expression.clauses:
        tuples = _apply(clause, tuples)
    return [item for one in tuples for item in one.items(expression.result)]


def _apply(clause: q.Clause, tuples: Iterable[Context]) -> Iterable[Context]:
    match clause:
        case q.For():
            return (bound for one in tuples for bound in _bindings(clause, one))
        case q.Let(name, source, type_):
            return (one.bind(name, _typed(one.items(source), type_, name)) for one in tuples)
        case q.Where(test):
            return (one for one in tuples if one.truth(test))
        case q.OrderBy(keys):
            return _sorted(keys, list(tuples))
    raise TypeError(f"no clause: {clause!r}")


def _bindings(clause: q.For, context: Context) -> Iterator[Context]:
    for position, item in enumerate(context.items(clause.source), start=1):
        bound = context.bind(clause.variable, _typed([item], clause.type, clause.variable))
        yield bound if clause.position is None else bound.bind(clause.position, [integer(position)])


def _typed(items: Items, type_: q.SequenceType | None, name: str) -> Items:
    if type_ is not None and not is_instance(items, type_):
        raise mistyped(f"the value of ${name} has not the type that is declared")
    return items


def _sorted(keys: tuple[q.OrderKey, ...], tuples: list[Context]) -> list[Context]:
    """Return tuples in order; sorting by the last key first leaves ties as they were."""
    columns = [[_key(key, one) for one in tuples] for key in keys]
    order = list(range(len(tuples)))
    for key, column in reversed(list(zip(keys, columns, strict=True))):
        rank = order_key(key.is_empty_greatest)
        order.sort(key=lambda n, c=column, r=rank: r(c[n]), reverse=key.is_descending)  # type: ignore[misc]
    return [tuples[number] for number in order]


def _key(key: q.OrderKey, context: Context) -> Atom | None:
    atom = context.atom(key.key, "order by")
    if atom is not None and atom.type == "untypedAtomic":
        return string(atom.value)
    return atom


def quantified(expression: q.Quantified, context: Context) -> Items:
    """Return whether some, or every, binding passes the test."""
    tuples: Iterable[Context] = [context]
    for binding in expression.bindings:
        tuples = _apply(binding, tuples)
    truths = (one.truth(expression.test) for one in tuples)
    return [boolean(any(truths) if expression.quantifier == "some" else all(truths))]


def own_call(expression: q.OwnCall, context: Context) -> Items:
    """Return the value of a function that the query declares; its body has no context item."""
    world = context.world
    function = world.functions[expression.function]
    inside = Context(world)
    for parameter, argument in zip(function.parameters, expression.arguments, strict=True):
        items = context.items(argument)
        if parameter.type is not None:
            items = converted(items, parameter.type, f"${parameter.name}")
        inside = inside.bind(parameter.name, items)
    if world.depth >= world.recursion_max:
        raise DynamicError("PQRECURSION", f"calls nest deeper than {world.recursion_max}")
    world.depth += 1
    try:
        items = inside.items(function.body)
    finally:
        world.depth -= 1
    if function.result is not None:
        items = converted(items, function.result, f"the result of {function.name.local}")
    return items
