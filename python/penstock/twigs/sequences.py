"""Expressions over sequences: what XQuery says beyond paths and conditions.

Paths, predicates, logic and calls of functions are those of ``expressions``. Here every expression
has a sequence of items as its value. Operands are converted when they are evaluated, by the rules
of XQuery 1.0 for untyped data, so no conversion is written out: a predicate that evaluates to one
number is a position, any other one is a truth value.

``Root`` is the document node above the context item: of the current document at the top of a query,
of another tree where the context item lies in one.

Variables have names of their own throughout a query: the front end renames those that hide others.
Names of elements, types and functions are resolved; no prefix is left to look up, except where a
name is computed at run time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from penstock.twigs.nodetests import NodeTest

Item = Any
"""An expression of this module or of ``expressions``."""


@dataclass(frozen=True, slots=True)
class Name:
    """An expanded name, and the prefix that it is written with."""

    local: str
    uri: str = ""
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Atomic:
    """A literal: the local name of its type in ``xs``, and its canonical text."""

    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Variable:
    """The value of a variable."""

    name: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """The items of all parts, one part behind the other; ``()`` has none."""

    parts: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """``first to last``."""

    first: Item
    last: Item


@dataclass(frozen=True, slots=True)
class Stream:
    """The document node of the current document of a stream: ``doc``, ``stream``, ``collection``.

    ``name`` is a string that is known before evaluation. ``is_whole`` of ``stream`` and
    ``collection``: loops over it join all documents, others those of one.
    """

    name: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Unbound:
    """The value of an external variable that has none yet; nobody evaluates it.

    ``span`` is where the query first mentions the variable, and ``is_declared`` says whether the
    prolog does.
    """

    name: str = field(compare=False)
    span: tuple[int, int] = field(compare=False)
    is_declared: bool = field(compare=False)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What a part of the query has gathered while the document was read, by its number.

    The language has no such thing: planning makes it of a part that is evaluated
    binding by binding.
    """

    index: int


@dataclass(frozen=True, slots=True)
class Each:
    """``base/body`` where the body is no step: its value for every node of the base.

    Nodes come in document order, each once. Atomic values come in order; a mixture is an error.
    """

    base: Item
    body: Item


@dataclass(frozen=True, slots=True)
class Combine:
    """``intersect`` or ``except`` of two sequences of nodes, in document order."""

    operator: str
    left: Item
    right: Item


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """``+ - * div idiv mod`` of two atomic values; empty if one of them is."""

    operator: str
    left: Item
    right: Item


@dataclass(frozen=True, slots=True)
class Signed:
    """``-operand`` or ``+operand``."""

    operator: str
    operand: Item


@dataclass(frozen=True, slots=True)
class GeneralCompare:
    """``= != < <= > >=``: whether some pair of items compares."""

    operator: str
    left: Item
    right: Item


@dataclass(frozen=True, slots=True)
class ValueCompare:
    """``eq ne lt le gt ge`` of two atomic values; empty if one of them is."""

    operator: str
    left: Item
    right: Item


@dataclass(frozen=True, slots=True)
class NodeCompare:
    """``is << >>`` of two nodes; empty if one of them is."""

    operator: str
    left: Item
    right: Item


@dataclass(frozen=True, slots=True)
class If:
    """``if (test) then … else …``."""

    test: Item
    then: Item
    otherwise: Item


@dataclass(frozen=True, slots=True)
class ItemType:
    """What one item is.

    ``kind`` is ``item``, ``node`` (then ``test`` says which; a document node may have a test of its
    element in ``element``) or ``atomic`` (then ``name`` is the local name of a type in ``xs``).
    """

    kind: str
    test: NodeTest | None = None
    element: NodeTest | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class SequenceType:
    """Items of a type, and how many: ``""`` one, ``?``, ``*``, ``+``, or ``0`` for none at all."""

    item: ItemType
    occurrence: str = ""


@dataclass(frozen=True, slots=True)
class For:
    """``for $variable as type at $position in source``; the type is that of each item.

    If it ``goes_on``, positions follow those of the evaluation before. Planning says so of a loop
    that is evaluated part by part; the language has no such thing.
    """

    variable: str
    source: Item
    position: str | None = None
    type: SequenceType | None = None
    goes_on: bool = False


@dataclass(frozen=True, slots=True)
class Let:
    """``let $variable as type := source``."""

    variable: str
    source: Item
    type: SequenceType | None = None


@dataclass(frozen=True, slots=True)
class Where:
    """``where test``."""

    test: Item


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of ``order by``."""

    key: Item
    is_descending: bool = False
    is_empty_greatest: bool = False


@dataclass(frozen=True, slots=True)
class OrderBy:
    """``order by`` all keys, the first one first. Tuples that compare equal keep their order."""

    keys: tuple[OrderKey, ...]


Clause = For | Let | Where | OrderBy


@dataclass(frozen=True, slots=True)
class Flwor:
    """``for … let … where … order by … return result``."""

    clauses: tuple[Clause, ...]
    result: Item


@dataclass(frozen=True, slots=True)
class Quantified:
    """``some`` or ``every`` binding of the variables satisfies the test."""

    quantifier: str
    bindings: tuple[For, ...]
    test: Item


@dataclass(frozen=True, slots=True)
class OwnCall:
    """A call of a function that the query declares: its number in ``Sequences.functions``."""

    function: int
    arguments: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class InstanceOf:
    """``operand instance of type``."""

    operand: Item
    type: SequenceType


@dataclass(frozen=True, slots=True)
class TreatAs:
    """``operand treat as type``: the operand, or an error."""

    operand: Item
    type: SequenceType


@dataclass(frozen=True, slots=True)
class CastAs:
    """``operand cast as type`` or, with ``is_optional``, ``type?``."""

    operand: Item
    type: str
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class CastableAs:
    """``operand castable as type``."""

    operand: Item
    type: str
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a type switch; ``type`` None is the default, which comes last."""

    type: SequenceType | None
    variable: str | None
    result: Item


@dataclass(frozen=True, slots=True)
class TypeSwitch:
    """The result of the first case whose type the operand has."""

    operand: Item
    cases: tuple[Case, ...]


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters of a direct constructor: they touch what stands beside them without a space."""

    text: str


@dataclass(frozen=True, slots=True)
class NewElement:
    """A constructed element.

    ``name`` is a name, or an expression that gives one. ``namespaces`` are the declarations
    (prefix, uri) written at a direct constructor. ``scope`` are those that were in force around it,
    for computed names. Attributes come before the content: ``NewAttribute`` for written ones.
    ``around`` are the declarations written at direct constructors around it in the text: the
    element has these namespaces too, even where it is not part of those elements.
    """

    name: Name | Item
    namespaces: tuple[tuple[str, str], ...] = ()
    content: tuple[Item, ...] = ()
    scope: tuple[tuple[str, str], ...] = ()
    around: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NewAttribute:
    """A constructed attribute; each part of its value is ``Characters`` or an expression."""

    name: Name | Item
    value: tuple[Item, ...] = ()
    scope: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class NewText:
    """``text { value }``: none where the value is empty."""

    value: Item


@dataclass(frozen=True, slots=True)
class NewComment:
    """A constructed comment."""

    value: Item


@dataclass(frozen=True, slots=True)
class NewInstruction:
    """A constructed processing instruction; the target is a string or an expression."""

    target: str | Item
    value: Item


@dataclass(frozen=True, slots=True)
class NewDocument:
    """``document { content }``."""

    content: Item


Expression = (
    Atomic
    | Variable
    | Sequence
    | Range
    | Stream
    | Unbound
    | Each
    | Combine
    | Arithmetic
    | Signed
    | GeneralCompare
    | ValueCompare
    | NodeCompare
    | If
    | Flwor
    | Quantified
    | OwnCall
    | InstanceOf
    | TreatAs
    | CastAs
    | CastableAs
    | TypeSwitch
    | Characters
    | NewElement
    | NewAttribute
    | NewText
    | NewComment
    | NewInstruction
    | NewDocument
)
"""What this module adds to the expressions of ``expressions``."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function; without a type it takes any sequence."""

    name: str
    type: SequenceType | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function that a query declares. Its body has no context item."""

    name: Name
    parameters: tuple[Parameter, ...]
    body: Item
    result: SequenceType | None = None


@dataclass(frozen=True, slots=True)
class Global:
    """A variable of the prolog, or one from outside the query.

    Each comes behind those that its value needs. An external variable has the literals, or the
    ``Stream``, that it was bound to when the query was made, or is ``Unbound``.
    """

    name: str
    value: Item
    type: SequenceType | None = None


@dataclass(frozen=True, slots=True)
class Sequences:
    """The output of a query in XQuery: its body, and what the prolog declares.

    ``untyped`` is what a comparison of a number with text that is no number gives: ``"error"``
    (FORG0001) or ``"false"``. ``empty`` is what happens to a message all of whose enclosed
    expressions are empty: ``"drop"`` or ``"send"``. ``within_us`` is how far apart the event times
    of what a query over several streams joins may be, in microseconds; None: as far as they are.
    """

    body: Item
    functions: tuple[Function, ...] = ()
    variables: tuple[Global, ...] = ()
    untyped: str = "error"
    empty: str = "drop"
    within_us: int | None = None
