"""Expressions become programs: every part one entry of the table of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penstock.planning import program as p
from penstock.planning.circuit_forms import to_circuit_form
from penstock.twigs import Slot, ValueType
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom
from penstock.twigs.parts import parts_of


def compile_selection(
    selection: x.Selection, constants: Sequence[Atom], is_filter: bool, is_spans: bool
) -> list[p.Part]:
    """Return the program of a query that is an expression; see :func:`compile_form`."""
    selection, constants = to_circuit_form(selection, constants)
    writer = ExpressionWriter(constants)
    expression, type_ = selection.expression, selection.type
    if is_filter:
        place = writer.place(_truth(expression, type_))
        return writer.finish([], p.varints(p.SELECT_FILTER, place))
    place = writer.place(expression)
    if selection.aggregate is not None:
        function = p.AGGREGATES[selection.aggregate]
        return writer.finish([], p.varints(p.SELECT_AGGREGATE, place, function, selection.running))
    if type_ is not None:
        return writer.finish([], p.varints(p.SELECT_VALUE, place, p.VALUE_KINDS[type_.value]))
    beside = [(writer.string(name), writer.place(nodes)) for name, nodes in selection.beside]
    pairs = [number for pair in beside for number in pair]
    return writer.finish([], p.varints(p.SELECT, place, is_spans, len(beside), *pairs))


def _truth(expression: x.Expression, type_: ValueType | None) -> x.Expression:
    """Return when a document matches: a node is found, or the value of the query is true."""
    if isinstance(expression, x.Nodes):
        return x.Exists(expression)
    is_truth = type_ is ValueType.BOOLEAN
    return expression if is_truth else x.Call("boolean", (expression,))


class ExpressionWriter(p.ProgramWriter):
    """Writes expressions into the tables of a program."""

    def __init__(self, constants: Sequence[Atom]) -> None:
        super().__init__()
        self._constants = constants

    def place(self, expression: x.Expression) -> int:
        """Write an expression after its parts, and return its number."""
        node = self.node
        match expression:
            case Slot():
                return self._constant(expression)
            case x.Constant(value=value):
                return node(p.BOOLEAN_NODE, value)
            case x.Compare(operator=operator):
                sides = self._places(parts_of(expression))
                return node(p.CALL_NODE, p.OPERATORS[operator], parts=sides)
            case x.Step(base=base, axis=axis, test=test, predicates=predicates):
                above, tested = self.place(base), self.test(test)
                return node(p.STEP, above, p.AXES[axis], tested, parts=self._places(predicates))
            case x.Filter(base=base, predicates=predicates):
                return node(p.FILTER_NODE, self.place(base), parts=self._places(predicates))
            case x.Call(function=function, arguments=arguments):
                return node(p.CALL_NODE, p.OPERATORS[function], parts=self._places(arguments))
            case x.Union(parts=parts) | x.And(parts=parts) | x.Or(parts=parts):
                return node(_CODES[type(expression)], parts=self._places(parts))
            case x.SomeCompare(operator=operator, value=value):
                sides = self._places(parts_of(expression))
                is_number = x.type_of(value) is ValueType.NUMBER
                return node(p.COMPARE_SOME, p.COMPARISONS[operator], *sides, is_number)
            case x.PairCompare(operator=operator):
                sides = self._places(parts_of(expression))
                return node(p.COMPARE_PAIRS, p.COMPARISONS[operator], *sides)
            case x.Above(test=test):
                sides = self._places(parts_of(expression))
                return node(p.ABOVE, self.test(test), *sides)
            case x.NameOf(part=part, nodes=nodes):
                return node(p.NAME, p.NAME_PARTS[part], self.place(nodes))
            case _:
                return node(_CODES[type(expression)], *self._places(parts_of(expression)))

    def _places(self, parts: Iterable[x.Expression]) -> list[int]:
        return [self.place(part) for part in parts]

    def _constant(self, slot: Slot) -> int:
        value = self._constants[slot.index]
        kind = p.TEXT_NODE if slot.type is ValueType.STRING else p.NUMBER_NODE
        return self.node(kind, self.constant(slot.index, value))


_CODES: dict[type, int] = {
    x.Here: p.HERE,
    x.Root: p.ROOT,
    x.Union: p.UNION,
    x.Identified: p.IDENTIFIED,
    x.And: p.AND_NODE,
    x.Or: p.OR_NODE,
    x.Not: p.NOT_NODE,
    x.Position: p.POSITION,
    x.Last: p.LAST,
    x.Exists: p.EXISTS,
    x.Count: p.COUNT,
    x.Sum: p.SUM,
    x.StringOf: p.STRING,
    x.JoinedStrings: p.STRINGS,
    x.ListedStrings: p.LIST,
}
