"""Queries over sequences in normal form: what the analysis of paths expects.

The context item of the body is the document node, so it is written as such. ``//`` is one step.
Variables that stand for paths are replaced by them, and a loop over the root element, which runs
at most once, is no loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.planning.sequences.context import is_truth, replace_context
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import ANY_NODE, BELOW, Axis, NodeKind
from penstock.twigs.sequence_parts import rewrite, substitute


def normalise(query: q.Sequences) -> q.Sequences:
    """Return a query that asks the same, in normal form."""
    functions = tuple([replace(one, body=_normal(one.body)) for one in query.functions])
    values: dict[str, Any] = {}
    variables = []
    for variable in query.variables:
        value = substitute(_normal(replace_context(variable.value, x.Root())), values)
        if variable.type is None and _is_path(value):
            values[variable.name] = value
        else:
            variables.append(replace(variable, value=value))
    body = substitute(_normal(replace_context(query.body, x.Root())), values)
    functions = tuple([replace(one, body=substitute(one.body, values)) for one in functions])
    return replace(query, body=body, functions=functions, variables=tuple(variables))


def _normal(part: Any) -> Any:
    return rewrite(part, _change)


def _change(part: Any) -> Any:
    match part:
        case x.Step(
            base=x.Step(base=base, axis=Axis.DESCENDANT_OR_SELF, test=test, predicates=()),
            axis=Axis.CHILD | Axis.DESCENDANT | Axis.DESCENDANT_OR_SELF | Axis.SELF as axis,
            predicates=predicates,
        ) if test == ANY_NODE and all(map(is_truth, predicates)):
            return x.Step(base, BELOW[axis], part.test, predicates)
        case q.Flwor():
            return _flwor(part)
        case _:
            return part


def _flwor(flwor: q.Flwor) -> Any:
    """Return a FLWOR whose variables are not mere names of paths."""
    clauses = flwor.clauses
    for place, clause in enumerate(clauses):
        match clause:
            case q.Let(variable=variable, source=source, type=None) if _is_path(source):
                rest = _rest(clauses[:place], clauses[place + 1 :], flwor.result)
                return _normal(substitute(rest, {variable: source}))
            case q.For(variable=variable, source=source, position=None, type=None) if (
                place == 0 and _is_root_element(source)
            ):
                rest = _rest((), clauses[1:], flwor.result)
                inside = _normal(substitute(rest, {variable: source}))
                return q.If(x.Call("exists", (source,)), inside, q.Sequence(()))
            case _:
                pass
    return flwor


def _rest(before: tuple[Any, ...], after: tuple[Any, ...], result: Any) -> Any:
    clauses = (*before, *after)
    if any(isinstance(clause, q.For | q.Let) for clause in clauses):
        return q.Flwor(clauses, result)
    # Nothing is bound any more, and what is left decides whether there is a result.
    for clause in reversed(clauses):
        if isinstance(clause, q.Where):
            result = q.If(clause.test, result, q.Sequence(()))
    return result


def _is_path(part: Any) -> bool:
    """Return whether an expression only names nodes: another variable, or a path without
    predicates from a document. What costs more is evaluated once, where it is bound.
    """
    if isinstance(part, q.Variable):
        return True
    while isinstance(part, x.Step) and not part.predicates:
        part = part.base
    return isinstance(part, x.Root | q.Stream)


def _is_root_element(part: Any) -> bool:
    match part:
        case x.Step(base=x.Root() | q.Stream(), axis=Axis.CHILD, test=test, predicates=()):
            return test.kind is NodeKind.ELEMENT
        case _:
            return False
