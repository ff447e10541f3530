"""From the syntax tree to a query: the kinds of results, and what all lowerings share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

from penstock.errors import QueryError
from penstock.languages.xpath.chains import Chain, Context
from penstock.languages.xpath.conditions import lower_condition
from penstock.languages.xpath.functions import AGGREGATES, FUNCTIONS, Signature, Type
from penstock.languages.xpath.namespaces import Namespaces
from penstock.languages.xpath.paths import lower_chains
from penstock.languages.xpath.reach import DOCUMENT
from penstock.languages.xpath.refusals import refused_mixture
from penstock.languages.xpath.scalars import leaves, lower_number, lower_scalar, lower_string
from penstock.languages.xpath.syntax import (
    ARITHMETIC,
    Binary,
    Expression,
    Filter,
    FunctionCall,
    Literal,
    Negate,
    Number,
    Path,
    Span,
    Union,
    Variable,
)
from penstock.twigs import (
    Aggregate,
    AtRoot,
    Axis,
    Block,
    BooleanOf,
    Branch,
    Call,
    Compare,
    Condition,
    Fragments,
    Holds,
    NameOf,
    NodeKind,
    NodeTest,
    Query,
    Scalar,
    StringOf,
    TwigNode,
    Value,
    type_of,
)
from penstock.twigs.blanks import Atom
from penstock.twigs.slots import SlotTable

RESULT = "result"
PARTS_MAX = 50_000
"""Parts of one query once its alternatives are written out."""

_ROOT_TEST = NodeTest(NodeKind.DOCUMENT)


class Lowering:
    """Lowers one text. The parts of the work live in modules of their own and meet here."""

    def __init__(
        self, text: str, namespaces: Namespaces, variables: Mapping[str, object] | None
    ) -> None:
        self.text = text
        self.namespaces = namespaces
        self.variables = dict(variables or {})
        self.slots = SlotTable()
        self.parts = 0

    # What the modules ask of each other

    def chains(self, expression: Expression, context: Context) -> list[Chain]:
        """Return the alternatives of a node-set."""
        return lower_chains(self, expression, context)

    def condition(self, expression: Expression, context: Context) -> Condition:
        """Return ``boolean(expression)``."""
        return lower_condition(self, expression, context)

    def scalar(self, expression: Expression, context: Context) -> Scalar:
        """Return the value of an expression that is no node-set."""
        return lower_scalar(self, expression, context)

    def string(self, expression: Expression, context: Context) -> Scalar:
        """Return ``string(expression)``."""
        return lower_string(self, expression, context)

    def number(self, expression: Expression, context: Context) -> Scalar:
        """Return ``number(expression)``."""
        return lower_number(self, expression, context)

    def spend(self, parts: int, span: Span) -> None:
        """Count parts of the query: short texts can stand for very many.

        Raises:
            QueryError: It has more than ``PARTS_MAX``.
        """
        self.parts += parts
        if self.parts > PARTS_MAX:
            message = f"written out, this query has more than {PARTS_MAX} parts"
            way_out = "use fewer unions and comparisons of conditions inside each other"
            raise QueryError("PQ0212", message, span, way_out, self.text)

    # Types

    def type_of(self, expression: Expression) -> Type:
        """Return the type of an expression, which XPath 1.0 knows without a document."""
        match expression:
            case Path() | Union():
                return Type.NODES
            case Filter(primary=primary):
                return self.type_of(primary)
            case FunctionCall():
                return self.check_call(expression).result
            case Literal():
                return Type.STRING
            case Number() | Negate():
                return Type.NUMBER
            case Binary(operator=operator) if operator in ARITHMETIC:
                return Type.NUMBER
            case Variable():
                value = self.value_of(expression)
                if isinstance(value, bool):
                    return Type.BOOLEAN
                return Type.STRING if isinstance(value, str) else Type.NUMBER
            case _:
                return Type.BOOLEAN

    def value_of(self, variable: Variable) -> Atom:
        """Return the value of a variable.

        Raises:
            QueryError: It has none, or one that is not atomic.
        """
        if variable.name not in self.variables:
            message = f"`${variable.name}` has no value"
            way_out = f"give it one: variables={{'{variable.name}': 'value'}}"
            raise QueryError("PQ0115", message, variable.span, way_out, self.text)
        value = self.variables[variable.name]
        if isinstance(value, bool | str):
            return value
        if isinstance(value, int | float):
            try:
                return float(value)
            except OverflowError:
                return float("inf") if value > 0 else float("-inf")
        message = f"`${variable.name}` is {type(value).__name__}, not a string, number or boolean"
        way_out = "pass the string or number that the query compares with"
        raise QueryError("PQ0116", message, variable.span, way_out, self.text)

    def check_call(self, call: FunctionCall) -> Signature:
        """Return the signature of the function, or raise where the call does not fit it."""
        signature = FUNCTIONS.get(call.name)
        if signature is None:
            close = get_close_matches(call.name, FUNCTIONS, 1, 0.75)
            way_out = f"did you mean {close[0]}()?" if close else "use a function of XPath 1.0"
            message = f"`{call.name}()` is no function of XPath 1.0"
            raise QueryError("PQ0112", message, call.name_span, way_out, self.text)
        if not signature.accepts(len(call.arguments)):
            message = f"`{call.name}()` takes {signature.describe()}, not {len(call.arguments)}"
            way_out = "count the commas between its parentheses"
            raise QueryError("PQ0113", message, call.span, way_out, self.text)
        for wanted, argument in zip(signature.parameters, call.arguments, strict=False):
            if wanted is Type.NODES and self.type_of(argument) is not Type.NODES:
                raise self.not_nodes(argument)
        return signature

    def not_nodes(self, expression: Expression) -> QueryError:
        """Return the error that nodes should stand here."""
        found = self.type_of(expression).value
        message = f"this is a {found}, and nodes are needed here"
        way_out = "write a path, such as //item"
        return QueryError("PQ0114", message, expression.span, way_out, self.text)

    def settle(self, atom: Compare | Holds, context: Context, span: Span) -> Condition:
        """Return the condition with absolute values moved to the document node.

        Raises:
            QueryError: It mixes them with values of the context node.
        """
        scalars = (atom.scalar,) if isinstance(atom, Holds) else (atom.left, atom.right)
        parts = [leaf for scalar in scalars for leaf in leaves(scalar)]
        reads = [leaf for leaf in parts if isinstance(leaf, StringOf | NameOf | BooleanOf)]
        absolute = [leaf for leaf in reads if not isinstance(leaf, BooleanOf) and leaf.absolute]
        if not absolute:
            return atom
        if len(absolute) < len(reads):
            raise refused_mixture(span, self.text)
        if isinstance(atom, Holds):
            return AtRoot(Holds(_relative(atom.scalar)))
        return AtRoot(Compare(atom.operator, _relative(atom.left), _relative(atom.right)))


def _relative(scalar: Scalar) -> Scalar:
    """Return the scalar as it reads at the document node."""
    match scalar:
        case StringOf() | NameOf():
            return replace(scalar, absolute=False)
        case Call(function=function, arguments=arguments):
            return Call(function, tuple(map(_relative, arguments)))
        case _:
            return scalar


def lower(expression: Expression, lowering: Lowering) -> Query:
    """Return the query that an expression is: nodes, an aggregate over nodes, or one value.

    Raises:
        QueryError: Something in it is unknown, or not evaluated.
    """
    context = Context(DOCUMENT)
    match expression:
        case FunctionCall(name=name) if name in AGGREGATES:
            lowering.check_call(expression)
            twigs = _root_twigs(lowering.chains(expression.arguments[0], context))
            return _query(lowering, twigs, Aggregate(name, RESULT))
    if lowering.type_of(expression) is Type.NODES:
        return _query(lowering, _root_twigs(lowering.chains(expression, context)))
    scalar = lowering.scalar(expression, context)
    root = TwigNode(Axis.SELF, _ROOT_TEST)
    return _query(lowering, (root,), Value(scalar, type_of(scalar)))


def _query(
    lowering: Lowering,
    twigs: tuple[TwigNode, ...],
    output: Fragments | Aggregate | Value = Fragments(RESULT),  # noqa: B008  # frozen
) -> Query:
    constants = tuple(lowering.slots.values)
    return Query((Block(twigs),), output, constants, text=lowering.text)


def _root_twigs(chains: list[Chain]) -> tuple[TwigNode, ...]:
    """Return one twig for each chain, rooted at the document node."""
    twigs = []
    for chain in chains:
        node = chain.twig(RESULT)
        if node is None:
            twigs.append(TwigNode(Axis.SELF, _ROOT_TEST, variable=RESULT))
        else:
            twigs.append(TwigNode(Axis.SELF, _ROOT_TEST, branches=(Branch(node),)))
    return tuple(twigs)
