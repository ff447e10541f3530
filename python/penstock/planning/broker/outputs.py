"""What a query says of a bound node: constant tags, and pieces that are evaluated once.

A constructor is taken apart as far as it goes: names and characters are constant, and each enclosed
expression is a piece. What cannot be taken apart is a piece as a whole.
"""

from __future__ import annotations

from typing import Any

from penstock.planning.broker.conditions import as_steps
from penstock.planning.broker.queries import (
    NODE,
    Attribute,
    Characters,
    Content,
    Element,
    Piece,
)
from penstock.planning.sequences.context import (
    free_variables,
    has_context,
    is_downward,
    reads_documents,
)
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q
from penstock.twigs.nodetests import Axis, NodeKind
from penstock.twigs.sequence_parts import all_parts

_SAME = set("exactly-one zero-or-one one-or-more unordered reverse trace".split())
_FIRST = {"subsequence", "remove"}
_DOWN = (Axis.CHILD, Axis.DESCENDANT)
_BELOW = (Axis.SELF, Axis.DESCENDANT_OR_SELF)


def is_of_node(part: Any, variables: set[str]) -> bool:
    """Return whether an expression depends on these variables and nothing else."""
    if has_context(part) or reads_documents(part) or not is_downward(part):
        return False
    if any(isinstance(inner, q.OwnCall | q.Gathered) for inner in all_parts(part)):
        return False
    return free_variables(part) <= variables


def has_namespaces(part: Any) -> bool:
    """Return whether some constructor has a namespace, so that tags depend on those around them."""
    for inner in all_parts(part):
        match inner:
            case q.NewElement(namespaces=(), around=(), name=name) | q.NewAttribute(name=name):
                if not isinstance(name, q.Name) or name.uri or name.prefix:
                    return True
            case q.NewElement():
                return True
    return False


def content_of(part: Any) -> list[Content] | None:
    """Return what an expression writes as content; None if it may give attributes.

    Atomic values of one expression are separated by spaces, so an expression with some is one
    piece, and nothing of it touches another one.
    """
    match part:
        case q.Characters(text=text):
            return [Characters(text)]
        case q.NewElement():
            element = _element(part)
            return [Piece(part) if element is None else element]
        case q.Sequence(parts=parts) if all(map(gives_nodes, parts)):
            contents = [content_of(inner) for inner in parts]
            return [one for content in contents if content is not None for one in content]
        case _:
            return [_piece(part)] if _is_content(part) else None


def _element(part: q.NewElement) -> Element | None:
    assert isinstance(part.name, q.Name)
    attributes: list[Attribute] = []
    contents: list[Content] = []
    for inner in part.content:
        if isinstance(inner, q.NewAttribute):
            if contents:
                return None
            assert isinstance(inner.name, q.Name)
            value = [
                Characters(one.text) if isinstance(one, q.Characters) else Piece(one)
                for one in inner.value
            ]
            attributes.append(Attribute(inner.name.local, tuple(value)))
            continue
        content = content_of(inner)
        if content is None:
            return None
        contents += content
    names = [attribute.name for attribute in attributes]
    if len({*names}) < len(names):
        return None
    return Element(part.name.local, tuple(attributes), tuple(contents))


def _piece(part: Any) -> Piece:
    steps: list[x.Step] = []
    path = part
    while isinstance(path, x.Step) and not path.predicates:
        steps.append(path)
        path = path.base
    if path != q.Variable(NODE):
        return Piece(part)
    return Piece(part, as_steps(steps[::-1]))


def gives_nodes(part: Any) -> bool:
    """Return whether all items of an expression are nodes, and none of them is an attribute."""
    match part:
        case q.NewElement() | q.NewComment() | q.NewInstruction():
            return True
        case q.Variable(name=name):
            return name == NODE
        case x.Step(axis=axis, base=base, test=test):
            if axis in _DOWN:
                return test.kind is not NodeKind.ATTRIBUTE
            return axis in _BELOW and gives_nodes(base)
        case x.Filter(base=base):
            return gives_nodes(base)
        case q.Sequence(parts=parts) | x.Union(parts=parts):
            return all(map(gives_nodes, parts))
        case q.If(then=then, otherwise=otherwise):
            return gives_nodes(then) and gives_nodes(otherwise)
        case q.Flwor(result=result):
            return gives_nodes(result)
        case _:
            return False


def _is_content(part: Any) -> bool:
    """Return whether no item of an expression is an attribute."""
    if gives_nodes(part):
        return True
    match part:
        case q.Atomic() | q.Arithmetic() | q.Signed() | q.Range() | q.NewText():
            return True
        case q.GeneralCompare() | q.ValueCompare() | q.NodeCompare() | x.And() | x.Or():
            return True
        case q.Quantified() | q.InstanceOf() | q.CastAs() | q.CastableAs():
            return True
        case q.Sequence(parts=parts):
            return all(map(_is_content, parts))
        case q.If(then=then, otherwise=otherwise):
            return _is_content(then) and _is_content(otherwise)
        case q.Flwor(result=result):
            return _is_content(result)
        case q.Each(body=body):
            # A body that reads its context may hand it on, and that may be an attribute.
            return isinstance(body, x.Call) and _is_content(body)
        case x.Call(function=function, arguments=arguments):
            if function in _SAME | _FIRST:
                return _is_content(arguments[0])
            return function not in ("insert-before", "root", "id")
        case _:
            return False
