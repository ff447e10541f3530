"""Which queries are brokered: a normal form is taken apart, or left to the listener of messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from penstock.planning.broker.conditions import as_condition, as_path, as_steps
from penstock.planning.broker.outputs import (
    content_of,
    gives_nodes,
    has_namespaces,
    is_of_node,
)
from penstock.planning.broker.queries import (
    NODE,
    SET,
    All,
    Attribute,
    BindingStep,
    Brokered,
    Characters,
    Condition,
    Content,
    Element,
    Loop,
    Piece,
)
from penstock.planning.sequences.context import is_truth, replace_context
from penstock.planning.sequences.streams import CURRENT
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.sequence_parts import rewrite, substitute

_NODE = q.Variable(NODE)
_NOTHING = q.Sequence(())


def as_brokered(query: q.Sequences) -> Brokered | None:
    """Return a query, which is in normal form and reads the current document, for the broker."""
    values = {one.name: one.value for one in query.variables if isinstance(one.value, q.Atomic)}
    if query.functions or len(values) < len(query.variables) or query.empty == "send":
        return None
    body = substitute(query.body, values) if values else query.body
    if not isinstance(body, q.NewElement) or has_namespaces(body):
        return None
    loops: list[tuple[tuple[BindingStep, ...], Condition]] = []
    message = _frame(body, loops)
    if message is None or len(loops) != 1:
        return None
    [(binding, condition)] = loops
    return Brokered(binding, condition, message, query.untyped == "false")


def _frame(
    part: q.NewElement, loops: list[tuple[tuple[BindingStep, ...], Condition]]
) -> Element | None:
    """Return the constant part of a message around its loop."""
    assert isinstance(part.name, q.Name)
    attributes = []
    contents: list[Content] = []
    for inner in part.content:
        content: Content | None
        match inner:
            case q.NewAttribute(name=q.Name(local=name), value=value) if not contents:
                texts = [one.text for one in value if isinstance(one, q.Characters)]
                if len(texts) < len(value):
                    return None
                attributes.append(Attribute(name, tuple(map(Characters, texts))))
                continue
            case q.Characters(text=text):
                content = Characters(text)
            case q.NewElement():
                content = _frame(inner, loops)
            case _:
                content = _loop(inner, loops)
        if content is None:
            return None
        contents.append(content)
    names = [attribute.name for attribute in attributes]
    if len({*names}) < len(names):
        return None
    return Element(part.name.local, tuple(attributes), tuple(contents))


def _loop(part: Any, loops: list[tuple[tuple[BindingStep, ...], Condition]]) -> Loop | None:
    match part:
        case q.Flwor(
            clauses=(q.For(variable=variable, source=source, position=None, type=None), *rest),
            result=result,
        ):
            renamed = {variable: _NODE}
            clauses = [substitute(clause, renamed) for clause in rest]
            clauses, body = _without_names(clauses, substitute(result, renamed))
        case q.If(test=x.Call(function="exists", arguments=(x.Step() as source,)), then=then) if (
            part.otherwise == _NOTHING
        ):
            # The normal form of a loop over the root element.
            clauses, body = [], rewrite(then, lambda one: _NODE if one == source else one)
            while isinstance(body, q.If) and body.otherwise == _NOTHING:
                clauses.append(q.Where(body.test))
                body = body.then
        case x.Step():
            source, clauses, body = part, [], _NODE
        case _:
            return None
    binding = _binding(source)
    if binding is None:
        return None
    condition, clauses = _conditions(clauses)
    steps, own = binding
    loop = _body(clauses, body)
    if loop is not None:
        loops.append((steps, All((*own, *condition))))
    return loop


def _without_names(clauses: list[Any], body: Any) -> tuple[list[Any], Any]:
    """Return clauses and a body without variables that only name paths from the bound node."""
    kept: list[Any] = []
    names: dict[str, Any] = {}
    for clause in clauses:
        clause = substitute(clause, names) if names else clause
        match clause:
            case q.Let(variable=variable, source=source, type=None) if as_path(source, _NODE):
                names[variable] = source
            case _:
                kept.append(clause)
    return kept, substitute(body, names) if names else body


def _conditions(clauses: list[Any]) -> tuple[list[Condition], list[Any]]:
    """Return the conditions that clauses begin with, and the clauses that are left."""
    conditions: list[Condition] = []
    for place, clause in enumerate(clauses):
        if not isinstance(clause, q.Where):
            return conditions, clauses[place:]
        parts = clause.test.parts if isinstance(clause.test, x.And) else (clause.test,)
        for at, part in enumerate(parts):
            condition = as_condition(part, _NODE)
            if condition is None:
                # What stands behind it is decided after it.
                rest = parts[at:]
                test = rest[0] if len(rest) == 1 else x.And(tuple(rest))
                return conditions, [q.Where(test), *clauses[place + 1 :]]
            conditions.append(condition)
    return conditions, []


def _body(clauses: list[Any], body: Any) -> Loop | None:
    if not gives_nodes(body):
        return None
    if not clauses:
        content = content_of(body) if is_of_node(body, {NODE}) else None
        return None if content is None else Loop(tuple(content))
    if any(isinstance(clause, q.OrderBy) for clause in clauses):
        # All bound nodes are needed at once.
        inner: Any = q.Flwor((q.For(NODE, q.Variable(SET)), *clauses), body)
        return Loop((Piece(inner),), is_set=True) if is_of_node(inner, {SET}) else None
    while clauses and isinstance(clauses[-1], q.Where):
        body = q.If(clauses.pop().test, body, _NOTHING)
    inner = q.Flwor(tuple(clauses), body) if clauses else body
    return Loop((Piece(inner),)) if is_of_node(inner, {NODE}) else None


def _binding(source: Any) -> tuple[tuple[BindingStep, ...], Sequence[Condition]] | None:
    """Return the steps of a binding path, and the conditions of the last of them."""
    steps: list[x.Step] = []
    while isinstance(source, x.Step):
        steps.append(source)
        source = source.base
    if not isinstance(source, x.Root) and source != q.Stream(CURRENT):
        return None
    steps.reverse()
    plain = as_steps(steps)
    if not plain:
        return None
    bound: list[BindingStep] = []
    conditions: list[Condition] = []
    for step, written in zip(plain, steps, strict=True):
        conditions = []
        for predicate in written.predicates:
            condition = None
            if is_truth(predicate):
                condition = as_condition(replace_context(predicate, _NODE), _NODE)
            if condition is None:
                return None
            conditions.append(condition)
        bound.append(BindingStep(step, All(tuple(conditions))))
    bound[-1] = BindingStep(bound[-1].step)
    return tuple(bound), conditions
