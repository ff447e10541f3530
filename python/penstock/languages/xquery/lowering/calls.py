"""Calls of functions: built-in ones, constructor functions, those of the query."""

from __future__ import annotations

import re
from difflib import get_close_matches

from penstock.errors import QueryError
from penstock.languages.xpath.tokens import NC_NAME
from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.functions import (
    CODEPOINTS,
    COLLATED,
    CONSTRUCTORS,
    FUNCTIONS,
    NODE_OF_CONTEXT,
    OF_CONTEXT,
    STREAMS,
    UNSUPPORTED,
)
from penstock.languages.xquery.lowering.names import FN_NAMESPACE, XS_NAMESPACE
from penstock.languages.xquery.lowering.paths import PathLowering, apply
from penstock.languages.xquery.rejections import rejection
from penstock.languages.xquery.types import UNSUPPORTED_TYPES
from penstock.languages.xquery.values import typed_literal
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q

QNAME = re.compile(rf"(?:({NC_NAME}):)?({NC_NAME})")
_AS_STRING = frozenset({"string-length", "normalize-space"})


class CallLowering(PathLowering):
    """Adds calls to the lowering."""

    def call(self, call: y.Call) -> q.Item:
        """Return a call of a function."""
        name = self.names.of_function(call.name)
        own = self.functions.get((name.uri, name.local, len(call.arguments)))
        if own is not None:
            number = self.number_of(own)
            arguments = tuple(self.lower(argument) for argument in call.arguments)
            return q.OwnCall(number, arguments)
        if name.uri == XS_NAMESPACE:
            return self._constructor(call)
        if name.uri == FN_NAMESPACE and name.local in FUNCTIONS:
            return self._built_in(name.local, call)
        raise self._unknown(name.uri, call)

    def _unknown(self, uri: str, call: y.Call) -> Exception:
        name = call.name.text
        arities = [
            arity
            for own_uri, local, arity in self.functions
            if (own_uri, local) == (uri, call.name.local)
        ]
        if arities:
            message = f"`{name}()` takes {_counted(arities)}, not {len(call.arguments)}"
            way_out = "count the commas between its parentheses"
            return self.error("PQ0113", message, call.span, way_out, "XPST0017")
        if uri == FN_NAMESPACE and call.name.local in UNSUPPORTED:
            message = f"the function `{name}()` is not supported"
            way_out = UNSUPPORTED[call.name.local]
            return self.error("PQ0501", message, call.name.span, way_out, "XPST0017")
        own = {
            local: f"{own.declaration.name.text}" for (_, local, _), own in self.functions.items()
        }
        close = get_close_matches(call.name.local, [*own, *FUNCTIONS], 1, 0.75)
        way_out = "declare it: declare function local:f($x) { … };"
        if close:
            way_out = f"did you mean {own.get(close[0], close[0])}()?"
        message = f"`{name}()` is no function"
        return self.error("PQ0112", message, call.name.span, way_out, "XPST0017")

    def _constructor(self, call: y.Call) -> q.Item:
        """Return a call of a function that is named after a type."""
        local = call.name.local
        if local in UNSUPPORTED_TYPES:
            message = f"the type `{call.name.text}` is not supported"
            way_out = f"use {UNSUPPORTED_TYPES[local]}"
            raise self.error("PQ0501", message, call.name.span, way_out, "XPST0017")
        if local not in CONSTRUCTORS:
            raise self._unknown(XS_NAMESPACE, call)
        if len(call.arguments) != 1:
            message = f"`{call.name.text}()` takes 1 argument, not {len(call.arguments)}"
            way_out = "cast one value"
            raise self.error("PQ0113", message, call.span, way_out, "XPST0017")
        (argument,) = call.arguments
        return self.cast(argument, local) or apply(f"xs:{local}", self.lower(argument))

    def cast(self, operand: y.Expression, target: str) -> q.Item | None:
        """Return what casting a string literal gives; None if only evaluation can tell."""
        if not isinstance(operand, y.Literal) or operand.type != "string":
            return None
        if target != "QName":
            return typed_literal(target, operand.text)
        name = self.name_in(operand)
        if name is None:
            return None
        lexical = f"{name.prefix}:{name.local}" if name.prefix else name.local
        return apply("QName", q.Atomic("string", name.uri), q.Atomic("string", lexical))

    def name_in(self, literal: y.Literal) -> q.Name | None:
        """Return the name that a string literal is, its prefix resolved here; None if it is none.

        Raises:
            QueryError: Nothing is bound to the prefix.
        """
        match = QNAME.fullmatch(literal.text.strip(" \t\r\n"))
        if match is None:
            return None
        try:
            return self.names.of_element(y.QName(match[1] or "", match[2], literal.span))
        except QueryError as error:
            code, message, span, way_out, text, _ = error.args
            raise QueryError(code, message, span, way_out, text, "FONS0004") from None

    def _built_in(self, function: str, call: y.Call) -> q.Item:
        """Return a call of a built-in function, its context and collation made explicit."""
        self._check_arity(function, call)
        match function:
            case "true" | "false":
                return q.Atomic("boolean", function)
            case "position" | "last":
                self.check_context(f"`{function}()`", call.span)
                return x.Position() if function == "position" else x.Last()
            case "static-base-uri":
                base = self.base_uri
                return q.Sequence(()) if base is None else q.Atomic("anyURI", base)
            case "default-collation":
                return q.Atomic("string", CODEPOINTS)
        if function in STREAMS:
            return self._stream(function, call)
        arguments = [self.lower(argument) for argument in self._without_collation(function, call)]
        if not arguments and function in OF_CONTEXT:
            self.check_context(f"`{function}()`", call.span)
            arguments.append(x.Here())
            if function in _AS_STRING:
                arguments = [apply("string", x.Here())]
        elif len(arguments) == 1 and function in NODE_OF_CONTEXT:
            self.check_context(f"`{function}()`", call.span)
            arguments.append(x.Here())
        elif len(arguments) == 1 and function == "resolve-uri":
            arguments.append(q.Atomic("string", self.base_uri or ""))
        return apply(function, *arguments)

    def _check_arity(self, function: str, call: y.Call) -> None:
        arities = FUNCTIONS[function]
        count = len(call.arguments)
        if count in arities or (function in COLLATED and count - 1 in arities):
            return
        message = f"`{call.name.text}()` takes {_counted(arities)}, not {count}"
        way_out = "count the commas between its parentheses"
        raise self.error("PQ0113", message, call.span, way_out, "XPST0017")

    def _without_collation(self, function: str, call: y.Call) -> tuple[y.Expression, ...]:
        if len(call.arguments) in FUNCTIONS[function]:
            return call.arguments
        *arguments, collation = call.arguments
        if not isinstance(collation, y.Literal) or collation.text != CODEPOINTS:
            raise rejection("collation", collation.span, self.text)
        return tuple(arguments)

    def _stream(self, function: str, call: y.Call) -> q.Item:
        """Return the stream that a literal, or a variable with a literal as its value, names."""
        (argument,) = call.arguments
        name = self.lower(argument)
        if isinstance(name, q.Variable):
            values = [entry.lowered for entry in self.globals.values() if entry.unique == name.name]
            name = values[0].value if values and values[0] is not None else None
        if isinstance(name, q.Atomic) and name.type == "string":
            return q.Stream(name.text, is_whole=function in ("stream", "collection"))
        if isinstance(name, q.Unbound):
            return q.Stream("")  # the text is read again when the variable has its value
        message = f"`{function}()` names a stream, which must be known before evaluation"
        way_out = f"write the name in quotes: {function}('orders')"
        raise self.error("PQ0511", message, argument.span, way_out, "XPST0003")


def _counted(arities: tuple[int, ...] | range | list[int]) -> str:
    if isinstance(arities, range):
        return f"at least {arities.start} arguments"
    numbers = [str(arity or "no") for arity in sorted(arities)]
    noun = "argument" if list(arities) == [1] else "arguments"
    return f"{' or '.join(numbers)} {noun}"
