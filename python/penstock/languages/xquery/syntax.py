"""The syntax tree of XQuery 1.0, every node with its span.

Spans are half-open ranges of characters and do not take part in comparisons: two trees are equal
if they say the same. Names are as written; the lowering resolves them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.twigs.nodetests import Axis

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class QName:
    """``local`` or ``prefix:local``."""

    prefix: str
    local: str
    span: Span = field(compare=False)

    @property
    def text(self) -> str:
        """The name as written."""
        return f"{self.prefix}:{self.local}" if self.prefix else self.local


# Types and tests


@dataclass(frozen=True, slots=True)
class NameTest:
    """A name; ``prefix`` ``*`` is any namespace, ``local`` None any local name."""

    prefix: str
    local: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class KindTest:
    """``kind(name, type)``; ``target`` is that of an instruction, ``element`` a document's."""

    kind: str
    span: Span = field(compare=False)
    name: NameTest | None = None
    type: QName | None = None
    target: str | None = None
    element: KindTest | None = None


@dataclass(frozen=True, slots=True)
class SequenceType:
    """An item type and how many items; ``item`` None is ``item()``, ``0`` means none at all."""

    item: QName | KindTest | None
    occurrence: str
    span: Span = field(compare=False)


# Expressions


@dataclass(frozen=True, slots=True)
class Literal:
    """A string or a number: its type in ``xs`` and its canonical text."""

    type: str
    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    """``$name``."""

    name: QName
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class ContextItem:
    """``.``."""

    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class RootNode:
    """The ``/`` that a path begins with."""

    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Step:
    """One axis step with its predicates."""

    axis: Axis
    test: NameTest | KindTest
    predicates: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Slash:
    """``left/right``."""

    left: Expression
    right: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """A primary expression with predicates."""

    primary: Expression
    predicates: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comma:
    """``a, b, …``; ``()`` has no parts."""

    parts: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """``name(arguments)``."""

    name: QName
    arguments: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Logical:
    """``and`` or ``or`` of at least two parts."""

    operator: str
    parts: tuple[Expression, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """Any other operator between two operands."""

    operator: str
    left: Expression
    right: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Signed:
    """``-operand`` or ``+operand``."""

    operator: str
    operand: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class TypeOperation:
    """``instance of``, ``treat as``, ``castable as`` or ``cast as``, by its first word."""

    operator: str
    operand: Expression
    type: SequenceType
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """``if (test) then … else …``."""

    test: Expression
    then: Expression
    otherwise: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """``for $variable as type at $position in source``."""

    variable: QName
    type: SequenceType | None
    position: QName | None
    source: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Let:
    """``let $variable as type := source``."""

    variable: QName
    type: SequenceType | None
    source: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Where:
    """``where test``."""

    test: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OrderKey:
    """One key of ``order by``; ``empty`` is ``greatest``, ``least`` or, unsaid, None."""

    key: Expression
    is_descending: bool
    empty: str | None
    collation: str | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OrderBy:
    """``order by`` some keys."""

    keys: tuple[OrderKey, ...]
    span: Span = field(compare=False)


Clause = For | Let | Where | OrderBy


@dataclass(frozen=True, slots=True)
class Flwor:
    """Clauses and what they return."""

    clauses: tuple[Clause, ...]
    result: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Quantified:
    """``some`` or ``every``."""

    quantifier: str
    bindings: tuple[For, ...]
    test: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    """One case of a type switch; ``type`` None is the default."""

    type: SequenceType | None
    variable: QName | None
    result: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class TypeSwitch:
    """``typeswitch (operand) case … default …``."""

    operand: Expression
    cases: tuple[Case, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Extension:
    """``(# pragma #) { expression }``: pragmas are ignored, but their prefixes must be bound."""

    pragmas: tuple[QName, ...]
    expression: Expression
    span: Span = field(compare=False)


# Constructors


@dataclass(frozen=True, slots=True)
class Characters:
    """Characters of a direct constructor; boundary space is layout unless the prolog keeps it."""

    text: str
    is_boundary_space: bool
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Enclosed:
    """``{ expression }`` in a direct constructor."""

    expression: Expression
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class DirectAttribute:
    """An attribute of a direct constructor, a namespace declaration included."""

    name: QName
    value: tuple[Characters | Enclosed, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class DirectElement:
    """``<name attributes>content</name>``."""

    name: QName
    attributes: tuple[DirectAttribute, ...]
    content: tuple[Expression | Characters | Enclosed, ...]
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class DirectComment:
    """``<!--text-->``."""

    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class DirectInstruction:
    """``<?target text?>``."""

    target: str
    text: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Computed:
    """``kind name { content }``; the name of some kinds is None, an expression or a name."""

    kind: str
    name: QName | Expression | None
    content: Expression
    span: Span = field(compare=False)


Expression = (
    Literal
    | Variable
    | ContextItem
    | RootNode
    | Step
    | Slash
    | Filter
    | Comma
    | Call
    | Logical
    | Binary
    | Signed
    | TypeOperation
    | If
    | Flwor
    | Quantified
    | TypeSwitch
    | Extension
    | DirectElement
    | DirectComment
    | DirectInstruction
    | Computed
)


# The prolog


@dataclass(frozen=True, slots=True)
class NamespaceDeclaration:
    """``declare namespace prefix = "uri"``; a default has ``element`` or ``function`` instead."""

    prefix: str
    uri: str
    span: Span = field(compare=False)
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Setter:
    """A setting of the prolog, such as ``boundary-space``, and its value."""

    name: str
    value: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class OptionDeclaration:
    """``declare option name "value"``."""

    name: QName
    value: str
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class VariableDeclaration:
    """``declare variable $name as type := value``; ``value`` None is ``external``."""

    name: QName
    type: SequenceType | None
    value: Expression | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function."""

    name: QName
    type: SequenceType | None
    span: Span = field(compare=False)


@dataclass(frozen=True, slots=True)
class FunctionDeclaration:
    """``declare function name(parameters) as result { body }``."""

    name: QName
    parameters: tuple[Parameter, ...]
    result: SequenceType | None
    body: Expression
    span: Span = field(compare=False)


Declaration = (
    NamespaceDeclaration | Setter | OptionDeclaration | VariableDeclaration | FunctionDeclaration
)


@dataclass(frozen=True, slots=True)
class Module:
    """A whole query."""

    prolog: tuple[Declaration, ...]
    body: Expression
    span: Span = field(compare=False)
