"""One expression after the other: what each kind becomes."""

from __future__ import annotations

from collections.abc import Callable

from penstock.languages.xquery import syntax as y
from penstock.languages.xquery.lowering.constructors import ConstructorLowering
from penstock.twigs import expressions as x
from penstock.twigs import sequences as q

_GENERAL = frozenset({"=", "!=", "<", "<=", ">", ">="})
_VALUE = frozenset({"eq", "ne", "lt", "le", "gt", "ge"})
_NODE = frozenset({"is", "<<", ">>"})
_ARITHMETIC = frozenset({"+", "-", "*", "div", "idiv", "mod"})


class ExpressionLowering(ConstructorLowering):
    """Lowers any expression."""

    def lower(self, expression: y.Expression) -> q.Item:
        """Return an expression of the syntax tree as one over sequences."""
        match expression:
            case y.Literal(type=kind, text=text):
                return q.Atomic(kind, text)
            case y.Variable():
                return self.variable(expression)
            case y.Step():
                return self.step(x.Here(), expression)
            case y.Slash():
                return self.path(expression)
            case y.Filter():
                return self.filter(expression)
            case y.Call():
                return self.call(expression)
            case y.Binary():
                return self._binary(expression)
            case y.Logical(operator=operator, parts=parts):
                lowered = tuple(self.lower(part) for part in parts)
                return x.And(lowered) if operator == "and" else x.Or(lowered)
            case y.Flwor():
                return self.flwor(expression)
            case y.DirectElement():
                return self.direct_element(expression)
            case y.If(test=test, then=then, otherwise=otherwise):
                return q.If(self.lower(test), self.lower(then), self.lower(otherwise))
            case _:
                return self._lower_rare(expression)

    def _lower_rare(self, expression: y.Expression) -> q.Item:
        match expression:
            case y.ContextItem():
                self.check_context("`.`", expression.span)
                return x.Here()
            case y.RootNode():
                self.check_context("`/`", expression.span)
                return x.Root()
            case y.Comma():
                return self._comma(expression)
            case y.Signed(operator=operator, operand=operand):
                return q.Signed(operator, self.lower(operand))
            case y.TypeOperation():
                return self._type_operation(expression)
            case y.Quantified():
                return self.quantified(expression)
            case y.TypeSwitch():
                return self.type_switch(expression)
            case y.DirectComment(text=text):
                return q.NewComment(q.Atomic("string", text))
            case y.DirectInstruction(target=target, text=text):
                return q.NewInstruction(target, q.Atomic("string", text))
            case y.Computed():
                return self.computed(expression)
            case y.Extension(pragmas=pragmas, expression=inner):
                for pragma in pragmas:
                    self.names.uris_of(pragma.prefix, pragma.span)
                return self.lower(inner)
        raise AssertionError(f"no expression: {expression}")

    def _comma(self, comma: y.Comma) -> q.Item:
        """Return a sequence; a sequence inside it is no level of its own."""
        parts: list[q.Item] = []
        for part in comma.parts:
            item = self.lower(part)
            parts += item.parts if isinstance(item, q.Sequence) else (item,)
        return parts[0] if len(parts) == 1 else q.Sequence(tuple(parts))

    def _binary(self, binary: y.Binary) -> q.Item:
        operator = binary.operator
        left, right = self.lower(binary.left), self.lower(binary.right)
        if operator == "union":
            return x.Union((*_alternatives(left), *_alternatives(right)))
        make: Callable[[str, q.Item, q.Item], q.Item]
        if operator in _GENERAL:
            make = q.GeneralCompare
        elif operator in _VALUE:
            make = q.ValueCompare
        elif operator in _NODE:
            make = q.NodeCompare
        elif operator in _ARITHMETIC:
            make = q.Arithmetic
        elif operator == "to":
            return q.Range(left, right)
        else:
            make = q.Combine
        return make(operator, left, right)

    def _type_operation(self, operation: y.TypeOperation) -> q.Item:
        kind = operation.type
        if operation.operator == "instance":
            return q.InstanceOf(self.lower(operation.operand), self.sequence_type(kind))
        if operation.operator == "treat":
            return q.TreatAs(self.lower(operation.operand), self.sequence_type(kind))
        assert isinstance(kind.item, y.QName)
        target = self.cast_type(kind.item)
        operand, is_optional = operation.operand, kind.occurrence == "?"
        if operation.operator == "cast":
            literal = self.cast(operand, target)
            return literal or q.CastAs(self.lower(operand), target, is_optional)
        if target == "QName" and isinstance(operand, y.Literal) and operand.type == "string":
            prefix = operand.text.strip().partition(":")[0] if ":" in operand.text else ""
            is_bound = not prefix or prefix in self.names.bindings
            is_name = is_bound and self.name_in(operand) is not None
            return q.Atomic("boolean", "true" if is_name else "false")
        return q.CastableAs(self.lower(operand), target, is_optional)


def _alternatives(item: q.Item) -> tuple[q.Item, ...]:
    return item.parts if isinstance(item, x.Union) else (item,)
