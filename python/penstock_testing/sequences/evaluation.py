"""Queries in XQuery over documents in memory: the value of an expression, by its definition."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import Any

from penstock.planning.sequences.variables import check_bound
from penstock.twigs import Query
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock_testing.sequences import clauses, constructors, operators, paths
from penstock_testing.sequences.context import Context, World
from penstock_testing.sequences.errors import mistyped
from penstock_testing.sequences.functions import call
from penstock_testing.sequences.items import Items, Moment
from penstock_testing.sequences.matching import is_instance
from penstock_testing.tree import Tree

NOW = Moment(2026, 1, 2, Decimal(3 * 3600 + 4 * 60 + 5), 0)
"""The current moment, unless a caller says otherwise."""
_STACK_FRAMES = 100_000

_RULES: dict[type, Callable[[Any, Context], Items]] = {
    x.Here: paths.here,
    x.Root: paths.root,
    x.Step: paths.step,
    x.Filter: paths.filter_items,
    x.Union: paths.union,
    x.Position: paths.position,
    x.Last: paths.last,
    x.And: operators.every,
    x.Or: operators.some,
    x.Not: operators.inverse,
    x.Call: call,
    q.Stream: paths.stream,
    q.Each: paths.each,
    q.Combine: paths.combine,
    q.Atomic: operators.literal,
    q.Variable: operators.variable,
    q.Sequence: operators.sequence,
    q.Range: operators.number_range,
    q.Arithmetic: operators.arithmetic,
    q.Signed: operators.signed,
    q.GeneralCompare: operators.general_compare,
    q.ValueCompare: operators.value_compare,
    q.NodeCompare: operators.node_compare,
    q.If: operators.condition,
    q.InstanceOf: operators.instance_of,
    q.TreatAs: operators.treat_as,
    q.CastAs: operators.cast_as,
    q.CastableAs: operators.castable_as,
    q.TypeSwitch: operators.type_switch,
    q.Flwor: clauses.flwor,
    q.Quantified: clauses.quantified,
    q.OwnCall: clauses.own_call,
    q.NewElement: constructors.element,
    q.NewAttribute: constructors.attribute,
    q.NewText: constructors.text,
    q.NewComment: constructors.comment,
    q.NewInstruction: constructors.instruction,
    q.NewDocument: constructors.document,
}


def evaluate_sequences(
    query: Query,
    document: Tree | None,
    *,
    documents: Mapping[str, Tree] | None = None,
    now: Moment = NOW,
) -> Items:
    """Return the items that a query in XQuery selects from a document.

    Without a document there is no context item. ``documents`` are the trees of streams; a variable
    that is bound to a document reads the stream ``$name``. Any other stream is the document.

    Raises:
        DynamicError: The evaluation fails.
        QueryError: A variable has no value.
    """
    check_bound(query)
    output = query.output
    assert isinstance(output, q.Sequences)
    context = context_of(output, document, documents, now)
    with deep_stack():
        return context.items(output.body)


def context_of(
    output: q.Sequences,
    document: Tree | None,
    documents: Mapping[str, Tree] | None = None,
    now: Moment = NOW,
) -> Context:
    """Return the context of the body of a query."""
    world = World(_evaluate, document, now, output.functions, documents or {}, output.untyped)
    outer = Context(world)
    if document is not None:
        outer = outer.at(world.forest.plant(document.root), 1, 1)
    for variable in output.variables:
        world.unevaluated[variable.name] = partial(_value, variable, outer)
    return outer


def _value(variable: q.Global, context: Context) -> Items:
    """Return the value of a variable of the prolog, which has the type that is declared."""
    items = context.items(variable.value)
    if variable.type is not None and not is_instance(items, variable.type):
        raise mistyped(f"the value of ${variable.name} has not the type that is declared")
    return items


def _evaluate(expression: Any, context: Context) -> Items:
    rule = _RULES.get(type(expression))
    if rule is None:
        raise TypeError(f"{type(expression).__name__} is no expression over sequences")
    return rule(expression, context)


@contextmanager
def deep_stack() -> Iterator[None]:
    """Let functions that call themselves nest as deep as a query may."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _STACK_FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
