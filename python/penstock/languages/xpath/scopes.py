"""What every lowering of one text shares: its names, its constants, and the checks of types."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from itertools import chain, repeat

from penstock.errors import QueryError
from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.functions import FUNCTIONS, Signature, Type
from penstock.languages.xpath.namespaces import Namespaces
from penstock.twigs.blanks import Atom
from penstock.twigs.slots import SlotTable


class Scope:
    """The text of a query with the namespaces and variables that it may mention."""

    def __init__(
        self,
        text: str,
        namespaces: Namespaces,
        variables: Mapping[str, object] | None,
        slots: SlotTable | None = None,
    ) -> None:
        self.text = text
        self.namespaces = namespaces
        self.variables = dict(variables or {})
        self.slots = SlotTable() if slots is None else slots

    def error(self, code: str, message: str, span: s.Span, way_out: str) -> QueryError:
        """Return an error about this text."""
        return QueryError(code, message, span, way_out, self.text)

    def type_of(self, expression: s.Expression) -> Type:
        """Return the type of an expression, which XPath 1.0 knows without a document."""
        match expression:
            case s.Path() | s.Union() | s.Filter():
                return Type.NODES
            case s.FunctionCall():
                return self.check_call(expression).result
            case s.Literal():
                return Type.STRING
            case s.Number() | s.Negate():
                return Type.NUMBER
            case s.Binary(operator=operator) if operator in s.ARITHMETIC:
                return Type.NUMBER
            case s.Variable():
                value = self.value_of(expression)
                if isinstance(value, bool):
                    return Type.BOOLEAN
                return Type.STRING if isinstance(value, str) else Type.NUMBER
            case _:
                return Type.BOOLEAN

    def value_of(self, variable: s.Variable) -> Atom:
        """Return the value of a variable.

        Raises:
            QueryError: It has none, or one that is not atomic.
        """
        if variable.name not in self.variables:
            message = f"`${variable.name}` has no value"
            way_out = f"give it one: variables={{'{variable.name}': 'value'}}"
            raise self.error("PQ0115", message, variable.span, way_out)
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
        raise self.error("PQ0116", message, variable.span, way_out)

    def check_call(self, call: s.FunctionCall) -> Signature:
        """Return the signature of the function, or raise where the call does not fit it."""
        signature = FUNCTIONS.get(call.name)
        if signature is None:
            close = get_close_matches(call.name, FUNCTIONS, 1, 0.75)
            way_out = f"did you mean {close[0]}()?" if close else "use a function of XPath 1.0"
            message = f"`{call.name}()` is no function of XPath 1.0"
            raise self.error("PQ0112", message, call.name_span, way_out)
        if not signature.accepts(len(call.arguments)):
            message = f"`{call.name}()` takes {signature.describe()}, not {len(call.arguments)}"
            way_out = "count the commas between its parentheses"
            raise self.error("PQ0113", message, call.span, way_out)
        for wanted, argument in zip(signature.parameters, call.arguments, strict=False):
            if wanted is Type.NODES and self.type_of(argument) is not Type.NODES:
                raise self.not_nodes(argument)
        return signature

    def typed_arguments(self, call: s.FunctionCall) -> Iterator[tuple[Type, s.Expression]]:
        """Yield the arguments of a call with the types that its function asks for."""
        parameters = self.check_call(call).parameters
        return zip(chain(parameters, repeat(parameters[-1])), call.arguments, strict=False)

    def not_nodes(self, expression: s.Expression) -> QueryError:
        """Return the error that nodes should stand here."""
        message = f"this is a {self.type_of(expression).value}, and nodes are needed here"
        return self.error("PQ0114", message, expression.span, "write a path, such as //item")
