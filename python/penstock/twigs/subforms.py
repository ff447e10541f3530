"""Which expressions are twigs: ``as_twigs`` and ``as_condition`` recognise the sub-form.

A twig looks forward and asks its nodes for conditions. A comparison with a node-set holds if it
holds for some node, so it moves to that node; what varies stands on the left of a comparison.
Positions, counts, other axes and sets that are compared with each other have no twig.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.twigs import expressions as x
from penstock.twigs.chains import Chain, ChainStep
from penstock.twigs.depth import size_of
from penstock.twigs.expressions import TRUE
from penstock.twigs.logic import FLIPPED, conjunction, disjunction, negation
from penstock.twigs.nodetests import DOCUMENT_NODE, Axis, NodeKind
from penstock.twigs.outputs import Aggregate, Fragments, Value
from penstock.twigs.parts import leaves
from penstock.twigs.queries import Block, NoTwigError, Query
from penstock.twigs.reach import DOCUMENT, FORWARD, Kinds, has_children, reach
from penstock.twigs.slots import SlotTable

RESULT = "result"
VALUE_VARIABLE = "value"
"""Marks the node of a twig inside ``StringOf`` and ``NameOf`` whose value is taken."""
PARTS_MAX = 50_000
"""Parts of one query once its alternatives are written out."""

Reads = list[bool]
"""For each node that a value reads, whether the path to it is absolute."""


def as_twigs(query: Query, slots: SlotTable, looking: x.Selection | None = None) -> Query:
    """Return a query that is one expression as twigs; ``slots`` gets constants that are new.

    ``looking`` selects the same as the query, where that looks back.

    Raises:
        NoTwigError: It takes an expression to say what it asks.
    """
    assert isinstance(query.output, x.Selection)
    recognition = Recognition(slots)
    selection = looking or query.output
    expression = selection.expression
    output: Fragments | Aggregate | Value
    if isinstance(expression, x.Nodes):
        twigs = tuple([_rooted(chain) for chain in recognition.chains(expression, DOCUMENT)])
        output = Fragments(RESULT)
        if selection.aggregate is not None:
            output = Aggregate(selection.aggregate, RESULT)
    else:
        value = recognition.value(expression, DOCUMENT, [])
        twigs = (x.TwigNode(Axis.SELF, DOCUMENT_NODE),)
        output = Value(value, x.type_of(value))
    constants = tuple(slots.values)
    return replace(
        query, blocks=(Block(twigs),), output=output, constants=constants, expression=query.output
    )


def as_condition(atom: x.Atom, kinds: Kinds, slots: SlotTable) -> x.Condition:
    """Return a truth value at nodes of some kinds as a condition of a twig.

    Raises:
        NoTwigError: It is none.
    """
    return Recognition(slots).condition(atom, kinds)


class Recognition:
    """Recognises the parts of one query; ``kinds`` are those that the context node may have."""

    def __init__(self, slots: SlotTable) -> None:
        self.slots = slots
        self.parts = 0

    def spend(self, parts: int) -> None:
        """Count parts of the query: short texts can stand for very many.

        Raises:
            NoTwigError: It has more than ``PARTS_MAX``.
        """
        self.parts += parts
        if self.parts > PARTS_MAX:
            raise NoTwigError(f"written out it has more than {PARTS_MAX} parts")

    def chains(self, nodes: x.Nodes, kinds: Kinds) -> list[Chain]:
        """Return the alternatives of a set; those that can never match are left out.

        Raises:
            NoTwigError: A part of it is no twig.
        """
        steps: list[x.Step] = []
        while isinstance(nodes, x.Step):
            steps.append(nodes)
            nodes = nodes.base
        match nodes:
            case x.Here():
                chains = [Chain(False, (), kinds)]
            case x.Root():
                # At the document node a relative path is the absolute one.
                chains = [Chain(kinds != DOCUMENT, (), DOCUMENT)]
            case x.Union(parts=parts):
                distinct: dict[Chain, None] = {}
                for part in parts:
                    distinct.update(dict.fromkeys(self.chains(part, kinds)))
                chains = list(distinct)
            case x.Filter(base=base, predicates=predicates):
                chains = self.chains(base, kinds)
                self.spend(len(chains))
                chains = [c.guarded(self.conditions(predicates, c.kinds)) for c in chains]
            case _:
                raise NoTwigError("`id()` needs declared ids")
        for step in reversed(steps):
            chains = [self.extended(chain, step) for chain in chains]
        return [chain for chain in chains if chain.kinds]

    def extended(self, chain: Chain, step: x.Step) -> Chain:
        """Return a chain with one more step, whatever that step starts from."""
        self.spend(1)
        axis, test = step.axis, step.test
        if axis not in FORWARD:
            raise NoTwigError(f"`{axis.value}::` looks back or along document order")
        kinds = reach(chain.kinds, axis, test)
        where = self.conditions(step.predicates, kinds)
        if axis is Axis.DESCENDANT_OR_SELF and not has_children(chain.kinds):
            axis = Axis.SELF
        if axis is Axis.SELF and test.kind is NodeKind.ANY and where == TRUE:
            return chain
        return chain.then(ChainStep(axis, test, where, chain.kinds), kinds)

    def conditions(self, predicates: tuple[x.Atom, ...], kinds: Kinds) -> x.Condition:
        """Return all predicates of a step as one condition."""
        return conjunction(*[self.condition(predicate, kinds) for predicate in predicates])

    def condition(self, atom: x.Atom, kinds: Kinds) -> x.Condition:
        """Return a truth value as a condition of a twig."""
        match atom:
            case x.Constant():
                return atom
            case x.And(parts=parts):
                return conjunction(*[self.condition(part, kinds) for part in parts])
            case x.Or(parts=parts):
                return disjunction(*[self.condition(part, kinds) for part in parts])
            case x.Not(part=part):
                return x.Not(self.condition(part, kinds))
            case x.Exists(nodes=nodes):
                return disjunction(*[chain.exists() for chain in self.chains(nodes, kinds)])
            case x.SomeCompare():
                return self.some_compare(atom, kinds)
            case x.PairCompare():
                return self.pair_compare(atom, kinds)
            case x.Compare():
                return self.compare(atom, kinds)
            case x.Call(function=function, arguments=arguments):
                reads: Reads = []
                values = [self.value(argument, kinds, reads) for argument in arguments]
                return _settled(x.Call(function, tuple(values)), reads)
            case _:
                raise NoTwigError(f"{type(atom).__name__} is no condition")

    def value(self, atom: x.Atom, kinds: Kinds, reads: Reads) -> x.Atom:
        """Return a value that a twig can compute; what it reads is added to ``reads``.

        Raises:
            NoTwigError: It cannot.
        """
        match atom:
            case x.Slot() | x.Constant():
                return atom
            case x.StringOf(nodes=nodes):
                chain = self.only_chain(nodes, kinds)
                return self.slots.add("") if chain is None else _string_of(chain, reads)
            case x.NameOf(part=part, nodes=nodes):
                chain = self.only_chain(nodes, kinds)
                return self.slots.add("") if chain is None else x.NameOf(part, _read(chain, reads))
            case x.Call(function=function, arguments=arguments) if not x.is_condition(atom):
                values = [self.value(argument, kinds, reads) for argument in arguments]
                return x.Call(function, tuple(values))
            case _ if x.is_condition(atom):
                reads.append(False)
                return self.condition(atom, kinds)
            case _:
                raise NoTwigError(f"{type(atom).__name__} is part of a value or of a condition")

    def only_chain(self, nodes: x.Nodes, kinds: Kinds) -> Chain | None:
        """Return the one alternative of a set; None if it never has a node.

        Raises:
            NoTwigError: The first node of a union is no twig's.
        """
        chains = self.chains(nodes, kinds)
        if len(chains) > 1:
            raise NoTwigError("the value of a union is taken")
        return chains[0] if chains else None

    def compare(self, comparison: x.Compare, kinds: Kinds) -> x.Condition:
        """Return a comparison of two values, a constant on the right."""
        operator, left, right = comparison.operator, comparison.left, comparison.right
        truths = _compared_truths(comparison)
        if truths is not None:
            first, second = (self.condition(truth, kinds) for truth in truths)
            self.spend(size_of(first) + size_of(second))
            return _compare_truths(operator, first, second)
        reads: Reads = []
        first, second = self.value(left, kinds, reads), self.value(right, kinds, reads)
        if _is_constant(first) and not _is_constant(second):
            operator, first, second = FLIPPED[operator], second, first
        return _settled(x.Compare(operator, first, second), reads)

    def some_compare(self, comparison: x.SomeCompare, kinds: Kinds) -> x.Condition:
        """Return that some node of a set compares with a value of the context node."""
        operator, reads = comparison.operator, Reads()
        value = self.value(comparison.value, kinds, reads)
        parts = []
        for chain in self.chains(comparison.nodes, kinds):
            if _is_constant(value):
                parts.append(chain.exists(_compare_string(operator, x.StringOf(), value)))
                continue
            if not chain.is_single:
                raise NoTwigError("a node-set is compared with a value that varies")
            all_reads = [*reads]
            compare = _compare_string(operator, _string_of_single(chain, all_reads), value)
            parts.append(conjunction(chain.exists(), _settled(compare, all_reads)))
        return disjunction(*parts)

    def pair_compare(self, comparison: x.PairCompare, kinds: Kinds) -> x.Condition:
        """Compare two sets that have at most one node each."""
        parts = []
        is_order = comparison.operator not in ("=", "!=")
        rights = self.chains(comparison.right, kinds)
        for left in self.chains(comparison.left, kinds):
            for right in rights:
                self.spend(1)
                if not (left.is_single and right.is_single):
                    raise NoTwigError("two node-sets are compared")
                reads: Reads = []
                sides = _string_of_single(left, reads), _string_of_single(right, reads)
                first, second = map(_number_of, sides) if is_order else sides
                compare = x.Compare(comparison.operator, first, second)
                parts.append(conjunction(left.exists(), right.exists(), _settled(compare, reads)))
        return disjunction(*parts)


def _rooted(chain: Chain) -> x.TwigNode:
    """Return the twig of a chain, from the document node."""
    node = chain.twig([(RESULT, ())])
    if node is None:
        return x.TwigNode(Axis.SELF, DOCUMENT_NODE, variable=RESULT)
    return x.TwigNode(Axis.SELF, DOCUMENT_NODE, branches=(x.Branch(node),))


def _read(chain: Chain, reads: Reads) -> x.Nodes:
    """Return the nodes of a chain as a value reads them."""
    reads.append(chain.absolute)
    return chain.twig([(VALUE_VARIABLE, ())]) or x.Here()


def _string_of(chain: Chain, reads: Reads) -> x.StringOf:
    return x.StringOf(_read(chain, reads))


def _string_of_single(chain: Chain, reads: Reads) -> x.StringOf:
    """Return the string of a chain with at most one node, which is known to exist."""
    if not chain.absolute and all(step.axis is Axis.SELF for step in chain.steps):
        reads.append(False)
        return x.StringOf()
    return _string_of(chain, reads)


def _compare_string(operator: str, string: x.Atom, value: x.Atom) -> x.Compare:
    """Compare a string with a value of either type."""
    is_number = x.type_of(value) is x.ValueType.NUMBER
    return x.Compare(operator, _number_of(string) if is_number else string, value)


def _number_of(string: x.Atom) -> x.Atom:
    return x.Call("number", (string,))


def _settled(atom: x.Compare | x.Call, reads: Reads) -> x.Condition:
    """Return a condition with absolute values at the document node.

    Raises:
        NoTwigError: It mixes them with values of the context node.
    """
    if not any(reads):
        return atom
    if not all(reads):
        raise NoTwigError("a value mixes the document node with another context")
    return x.AtRoot(atom)


def _is_constant(atom: x.Atom) -> bool:
    """Return whether a value is the same whatever the document."""
    if isinstance(atom, x.Call) and not x.is_condition(atom):
        return all(isinstance(leaf, x.Slot) for leaf in leaves(atom))
    return isinstance(atom, x.Slot)


def _compared_truths(comparison: x.Compare) -> tuple[x.Atom, x.Atom] | None:
    """Return the truth values that a comparison is about; None if it is about other values."""
    sides = comparison.left, comparison.right
    if comparison.operator not in ("=", "!="):
        match sides:
            case (
                x.Call(function="number", arguments=(left,)),
                x.Call(function="number", arguments=(right,)),
            ):
                sides = left, right
    are_truths = all(x.type_of(side) is x.ValueType.BOOLEAN for side in sides)
    return sides if are_truths else None


def _compare_truths(operator: str, left: x.Condition, right: x.Condition) -> x.Condition:
    """Write a comparison of two truths with ``and``, ``or`` and ``not``; false is below true."""
    match operator:
        case "=":
            neither = conjunction(negation(left), negation(right))
            return disjunction(conjunction(left, right), neither)
        case "!=":
            return disjunction(
                conjunction(left, negation(right)), conjunction(negation(left), right)
            )
        case "<":
            return conjunction(negation(left), right)
        case "<=":
            return disjunction(negation(left), right)
        case ">":
            return conjunction(left, negation(right))
        case _:
            return disjunction(left, negation(right))
