"""Expressions become programs: every part one entry of the table of nodes."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.planning import program as p
from penstock.planning.circuit_forms import to_circuit_form
from penstock.planning.values import is_true
from penstock.twigs import Slot, ValueType
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom


def compile_selection(
    selection: x.Selection, constants: Sequence[Atom], is_filter: bool, is_spans: bool
) -> list[p.Part]:
    """Return the program of a query that is an expression; see :func:`compile_form`."""
    selection, constants = to_circuit_form(selection, constants)
    writer = _Writer(constants)
    expression, type_ = selection.expression, selection.type
    if is_filter:
        return writer.finish(p.varints(p.SELECT_FILTER, writer.place(_truth(expression, type_))))
    place = writer.place(expression)
    if selection.aggregate is not None:
        function = p.AGGREGATES[selection.aggregate]
        return writer.finish(p.varints(p.SELECT_AGGREGATE, place, function, selection.running))
    if type_ is not None:
        return writer.finish(p.varints(p.SELECT_VALUE, place, p.VALUE_KINDS[type_.value]))
    beside = [(writer.string(name), writer.place(nodes)) for name, nodes in selection.beside]
    pairs = [number for pair in beside for number in pair]
    return writer.finish(p.varints(p.SELECT, place, is_spans, len(beside), *pairs))


def _truth(expression: x.Expression, type_: ValueType | None) -> x.Expression:
    """Return when a document matches: a node is found, or the value of the query is true."""
    if isinstance(expression, x.Nodes):
        return x.NonEmpty(expression)
    is_truth = type_ is ValueType.BOOLEAN
    return expression if is_truth else x.Apply("boolean", (expression,))


class _Writer:
    def __init__(self, constants: Sequence[Atom]) -> None:
        self._constants = constants
        self._program = p.ProgramWriter()

    def string(self, text: str) -> int:
        return self._program.string(text)

    def finish(self, output: bytes) -> list[p.Part]:
        return self._program.finish([], output)

    def place(self, expression: x.Expression) -> int:
        """Write an expression after its parts, and return its number."""
        node = self._program.node
        match expression:
            case x.Here():
                return node(p.HERE)
            case x.Root():
                return node(p.ROOT)
            case x.Step(base=base, axis=axis, test=test, predicates=predicates):
                above, tested = self.place(base), self._program.test(test)
                listed = [self.place(one) for one in predicates]
                return node(p.STEP, above, p.AXES[axis], tested, parts=listed)
            case x.Filter(base=base, predicates=predicates):
                above = self.place(base)
                return node(p.FILTER_NODE, above, parts=[self.place(one) for one in predicates])
            case x.Union(parts=parts):
                return node(p.UNION, parts=[self.place(part) for part in parts])
            case x.Identified(words=words):
                return node(p.IDENTIFIED, self.place(words))
            case _:
                return self._atom(expression)

    def _atom(self, atom: x.Atom) -> int:
        node = self._program.node
        match atom:
            case Slot():
                return self._constant(atom)
            case x.Apply(function=function, arguments=arguments):
                listed = [self.place(argument) for argument in arguments]
                return node(p.CALL_NODE, p.OPERATORS[function], parts=listed)
            case x.All(parts=parts):
                return node(p.AND_NODE, parts=[self.place(part) for part in parts])
            case x.Some(parts=parts):
                return node(p.OR_NODE, parts=[self.place(part) for part in parts])
            case x.Inverse(part=part):
                return node(p.NOT_NODE, self.place(part))
            case x.Position():
                return node(p.POSITION)
            case x.Last():
                return node(p.LAST)
            case x.SomeCompare(operator=operator, nodes=nodes, value=value):
                sides = self.place(nodes), self.place(value)
                is_number = x.atom_type(value) is ValueType.NUMBER
                return node(p.COMPARE_SOME, p.COMPARISONS[operator], *sides, is_number)
            case x.PairCompare(operator=operator, left=left, right=right):
                sides = self.place(left), self.place(right)
                return node(p.COMPARE_PAIRS, p.COMPARISONS[operator], *sides)
            case x.Above(test=test, atom=inner, otherwise=otherwise):
                sides = self.place(inner), self.place(otherwise)
                return node(p.ABOVE, self._program.test(test), *sides)
            case x.FirstName(part=part, nodes=nodes):
                return node(p.NAME, p.NAME_PARTS[part], self.place(nodes))
            case _:
                return node(_OF_NODES[type(atom)], self.place(atom.nodes))

    def _constant(self, slot: Slot) -> int:
        value = self._constants[slot.index]
        if slot.type is ValueType.BOOLEAN:
            return self._program.node(p.BOOLEAN_NODE, is_true(value))
        kind = p.TEXT_NODE if slot.type is ValueType.STRING else p.NUMBER_NODE
        return self._program.node(kind, self._program.constant(slot.index, value))


_OF_NODES: dict[type, int] = {
    x.NonEmpty: p.EXISTS,
    x.Count: p.COUNT,
    x.Sum: p.SUM,
    x.FirstString: p.STRING,
    x.JoinedStrings: p.STRINGS,
}
