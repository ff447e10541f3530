"""Queries become programs: twigs in normal form, written for the kernel."""

from __future__ import annotations

from typing import cast

from penstock.errors import QueryError
from penstock.planning import program as p
from penstock.planning.circuits import compile_selection
from penstock.planning.normalise import normalise
from penstock.twigs import Aggregate, Block, Fragments, Query, Selection, Value
from penstock.twigs import expressions as x
from penstock.twigs.blanks import Atom


def compile_query(query: Query, *, is_filter: bool = False, is_spans: bool = False) -> bytes:
    """Return the program of a query.

    Compiling is pure: equal queries give equal bytes, and nothing but the query is looked at.
    With ``is_filter`` the program only reports that a document matches; with ``is_spans`` nodes
    are reported without their bytes.

    Raises:
        QueryError: The query needs something that the kernel does not evaluate yet.
    """
    return compile_normal(normalise(query), is_filter=is_filter, is_spans=is_spans)


def compile_normal(normal: Query, *, is_filter: bool = False, is_spans: bool = False) -> bytes:
    """Return the program of a query that is in normal form already.

    Raises:
        QueryError: As above.
    """
    return b"".join(cast(list[bytes], _parts(normal, is_filter, is_spans)))


def compile_end(holds: x.Condition) -> bytes:
    """Return the program that ends the reading once a condition holds at the document node.

    It hands out nothing: from then on no other program of its plan finds anything more.
    """
    compiler = _Compiler(Query((), Fragments("")))
    output = p.varints(p.END, compiler._formula(holds))
    return b"".join(cast(list[bytes], compiler._writer.finish([], output)))


def compile_form(query: Query, is_filter: bool = False, is_spans: bool = False) -> list[p.Part]:
    """Return the program of a query in pieces; its constants are blanks, and such are pieces.

    Raises:
        QueryError: As above.
        ExaminedError: A blank was looked at, so that this is no program for all constants.
    """
    return _parts(normalise(query), is_filter, is_spans)


def _parts(normal: Query, is_filter: bool, is_spans: bool) -> list[p.Part]:
    if isinstance(normal.output, Selection):
        return compile_selection(normal.output, normal.constants, is_filter, is_spans)
    return _Compiler(normal).program(is_filter, is_spans)


def compile_paths(alternatives: tuple[x.TwigNode, ...], constants: tuple[Atom, ...]) -> bytes:
    """Return the patterns of paths that are in normal form already.

    Raises:
        QueryError: A condition needs something that the kernel does not evaluate yet.
    """
    query = Query((Block(alternatives),), Fragments(""), constants)
    return b"".join(cast(list[bytes], _Compiler(query).patterns()))


class _Compiler:
    def __init__(self, query: Query) -> None:
        self._query = query
        self._writer = p.ProgramWriter()

    def program(self, is_filter: bool, is_spans: bool) -> list[p.Part]:
        query = self._query
        if len(query.blocks) != 1 or query.joins:
            raise self._refusal("several blocks in one query", "use one path expression")
        alternatives = query.blocks[0].alternatives
        if is_filter:
            holds = self._formula(_any([_matches(root) for root in alternatives], query.output))
            return self._writer.finish([], p.varints(p.FILTER, holds))
        match query.output:
            case Fragments():
                output = p.SPANS if is_spans else p.FRAGMENTS
                return self._finish_paths(alternatives, p.varint(output))
            case Aggregate(function=function, running=running):
                code = p.AGGREGATES[function]
                return self._finish_paths(alternatives, p.varints(p.AGGREGATE, code, running))
            case Value(atom=atom) if _is_formula(atom):
                holds, fails = self._formula(atom), self._formula(negate(atom))
                return self._writer.finish([], p.varints(p.BOOLEAN_OUTPUT, holds, fails))
            case Value(atom=atom, type=kind):
                formula = self._computed(atom)
                code = p.VALUE_KINDS[kind.value]
                return self._writer.finish([], p.varints(p.VALUE, formula, code))
            case _:
                raise self._refusal("this output", "use one path expression")

    def patterns(self) -> list[p.Part]:
        (block,) = self._query.blocks
        return self._writer.patterns([self._path(root) for root in block.alternatives])

    def _finish_paths(self, alternatives: tuple[x.TwigNode, ...], output: bytes) -> list[p.Part]:
        return self._writer.finish([self._path(root) for root in alternatives], output)

    def _path(self, root: x.TwigNode) -> bytes:
        steps = []
        node = root
        while node.branches:
            if len(node.branches) > 1 or node.branches[0].optional:
                raise self._refusal("several outputs in one query", "use one path expression")
            node = node.branches[0].node
            steps.append((node.axis, self._writer.test(node.test), self._formula(node.where)))
        return p.path(self._formula(root.where), steps)

    def _formula(self, condition: x.Condition) -> int:
        match condition:
            case x.Constant(value=value):
                return self._writer.formula(p.TRUE if value else p.FALSE)
            case x.And(parts=parts):
                return self._writer.connective(p.AND, [self._formula(part) for part in parts])
            case x.Or(parts=parts):
                return self._writer.connective(p.OR, [self._formula(part) for part in parts])
            case x.Not(part=part):
                return self._writer.formula(p.NOT, self._formula(part))
            case x.Exists(nodes=x.TwigNode() as node):
                below = [self._formula(x.Exists(branch.node)) for branch in node.branches]
                sub = self._writer.connective(p.AND, [self._formula(node.where), *below])
                test = self._writer.test(node.test)
                return self._writer.formula(p.EDGE, p.AXES[node.axis], test, sub)
            case x.Compare():
                return self._comparison(condition)
            case x.Call(
                function="contains" | "starts-with" as function,
                arguments=(x.StringOf(nodes=x.Here()), x.Slot() as slot),
            ):
                kind = p.CONTAINS if function == "contains" else p.STARTS_WITH
                return self._writer.formula(kind, self._constant(slot))
            case x.Call(function="boolean", arguments=(atom,)):
                return self._computed(atom)
            case x.Call():
                return self._computed(condition)
            case _:
                raise self._refusal("this condition", "simplify the predicate")

    def _comparison(self, compare: x.Compare) -> int:
        operator = p.COMPARISONS[compare.operator]
        match compare.left, compare.right:
            case x.StringOf(nodes=x.Here()), x.Slot(type=x.ValueType.STRING) as slot if (
                compare.operator in ("=", "!=")
            ):
                return self._writer.formula(p.TEXT_ATOM, operator, self._constant(slot))
            case (
                x.Call(function="number", arguments=(x.StringOf(nodes=x.Here()),)),
                x.Slot(type=x.ValueType.NUMBER) as slot,
            ):
                return self._writer.formula(p.NUMBER_ATOM, operator, self._constant(slot))
            case _:
                operands = _Operands(self)
                sides = [operands.expression(side) for side in (compare.left, compare.right)]
                expression = self._writer.operation(compare.operator, sides)
                return self._writer.computed(expression, operands.listed)

    def _computed(self, atom: x.Atom) -> int:
        operands = _Operands(self)
        return self._writer.computed(operands.expression(atom), operands.listed)

    def _constant(self, slot: x.Slot) -> int:
        return self._writer.constant(slot.index, self._query.constants[slot.index])

    def _refusal(self, what: str, way_out: str) -> QueryError:
        text = self._query.text
        return QueryError("PQ0301", f"{what} is not evaluated yet", (0, len(text)), way_out, text)


class _Operands:
    """The operands of one expression: which parts of which first nodes it reads."""

    def __init__(self, compiler: _Compiler) -> None:
        self._compiler = compiler
        self.listed: list[p.Operand] = []

    def expression(self, atom: x.Atom) -> int:
        writer = self._compiler._writer
        match atom:
            case x.Constant(value=value):
                return writer.leaf(p.BOOLEAN, int(value))
            case x.Slot(type=kind):
                leaf = p.TEXT if kind is x.ValueType.STRING else p.NUMBER
                return writer.leaf(leaf, self._compiler._constant(atom))
            case x.StringOf(nodes=nodes):
                return self._operand(p.Operand(p.STRING_VALUE, self._steps(nodes)))
            case x.NameOf(part=part, nodes=nodes):
                return self._operand(p.Operand(p.NAME_PARTS[part], self._steps(nodes)))
            case x.Call(function=function, arguments=arguments) if not x.is_condition(atom):
                return writer.operation(function, [self.expression(one) for one in arguments])
            case _:
                formulas = self._compiler._formula(atom), self._compiler._formula(negate(atom))
                operand = self._operand(p.Operand(p.TRUTH, condition=formulas))
                # Operands are strings; this one is "true" or "false".
                return writer.operation("=", [operand, writer.leaf(p.TEXT, writer.string("true"))])

    def _operand(self, operand: p.Operand) -> int:
        if operand not in self.listed:
            self.listed.append(operand)
        return self._compiler._writer.leaf(p.OPERAND, self.listed.index(operand))

    def _steps(self, nodes: x.Nodes) -> tuple[p.OperandStep, ...]:
        steps: list[p.OperandStep] = []
        while isinstance(nodes, x.TwigNode):
            steps.append((nodes.axis, nodes.test, self._compiler._formula(nodes.where)))
            nodes = nodes.branches[0].node if nodes.branches else x.Here()
        return tuple(steps)


def _is_formula(atom: x.Atom) -> bool:
    """Return whether the value of a query is a condition and no constant."""
    return x.is_condition(atom) and not isinstance(atom, x.Constant)


def negate(condition: x.Condition) -> x.Condition:
    """Return the negation of a condition in negation normal form, in the same form."""
    match condition:
        case x.Constant(value=value):
            return x.Constant(not value)
        case x.And(parts=parts):
            return x.Or(tuple(negate(part) for part in parts))
        case x.Or(parts=parts):
            return x.And(tuple(negate(part) for part in parts))
        case x.Not(part=part):
            return part
        case _:
            return x.Not(condition)


def _matches(root: x.TwigNode) -> x.Condition:
    """Return the condition at the document node that some node matches the twig."""
    below = tuple(x.Exists(branch.node) for branch in root.branches)
    parts = (root.where, *below)
    return parts[0] if len(parts) == 1 else x.And(parts)


def _any(conditions: list[x.Condition], output: object) -> x.Condition:
    """Return when a document matches: a node is found, or the value of the query is true."""
    match output:
        case Value(atom=atom, type=x.ValueType.BOOLEAN) if not isinstance(atom, x.Constant):
            return atom
        case Value(atom=atom):
            return x.Call("boolean", (atom,))
        case _:
            pass
    if not conditions:
        return x.Constant(False)
    return conditions[0] if len(conditions) == 1 else x.Or(tuple(conditions))
