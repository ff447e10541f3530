"""The predicates of operators: value joins, comparisons of paths, and filters of single blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from penstock.languages.xpath import syntax as s
from penstock.languages.xpath.expressions import UNDER_TEST, ExpressionLowering
from penstock.languages.xscl.blocks import Blocks
from penstock.languages.xscl.syntax import Name, OperatorSyntax, TermSyntax
from penstock.twigs import Axis, Block, Comparison, Join, JoinKind, Operand, PathTerm
from penstock.twigs import expressions as x
from penstock.twigs.logic import FLIPPED, conjunction
from penstock.twigs.subforms import as_condition
from penstock.twigs.subforms.chains import Chain

_CONSTANTS = (s.Literal, s.Number, s.Negate, s.Variable)


@dataclass(slots=True)
class Predicates:
    """Lowers the operators of one query, and collects the filters of its blocks."""

    lowering: ExpressionLowering
    blocks: Blocks
    absent: set[int] = field(default_factory=set)
    """Blocks on the right of NOT FOLLOWED BY, whose variables nobody sees afterwards."""
    filters: dict[str, x.Condition] = field(default_factory=dict)
    """Conditions that terms with constants put on the nodes of variables."""

    def lower(self, operators: Sequence[OperatorSyntax]) -> tuple[Join, ...]:
        """Return the joins.

        Raises:
            QueryError: An operand is none, or its variable is not bound here; a predicate has no
                equality between its sides.
        """
        return tuple(self._join(operator, right) for right, operator in enumerate(operators, 1))

    def _join(self, operator: OperatorSyntax, right: int) -> Join:
        equalities: list[tuple[str, str]] = []
        inequalities: list[Comparison] = []
        terms: list[PathTerm] = []
        has_equality = False
        for written in operator.terms:
            term = self._term(written, right)
            if term is None:
                continue
            sides = [self.blocks.block_of[o.variable] == right for o in (term.left, term.right)]
            crosses = sides == [False, True]
            has_equality |= crosses and term.operator == "="
            if crosses and term.left.path and operator.kind is JoinKind.NOT_FOLLOWED_BY:
                raise self.lowering.error(
                    "PQ0413",
                    "a path on the left of NOT FOLLOWED BY is not evaluated yet",
                    written.span,
                    "bind its nodes in the block if each counts by itself: …[.//author->a]",
                )
            if not crosses or term.left.path or term.right.path:
                terms.append(term)
            elif term.operator == "=":
                equalities.append((term.left.variable, term.right.variable))
            else:
                comparison = Comparison(term.left.variable, term.operator, term.right.variable)
                inequalities.append(comparison)
        if not has_equality:
            message = "no term says that a value of one side equals one of the other"
            way_out = "add one: x = y, where x is bound before the operator and y after it"
            raise self.lowering.error("PQ0405", message, operator.span, way_out)
        if operator.kind is JoinKind.NOT_FOLLOWED_BY:
            self.absent.add(right)
        return Join(
            operator.kind,
            right,
            tuple(dict.fromkeys(equalities)),
            operator.window_seconds,
            tuple(dict.fromkeys(inequalities)),
            tuple(terms),
        )

    def _term(self, term: TermSyntax, right: int) -> PathTerm | None:
        """Return a term, the side that is bound earlier on the left; None if it is a filter."""
        left_is_constant = isinstance(term.left, _CONSTANTS)
        if isinstance(term.right, _CONSTANTS) or left_is_constant:
            self._filter(term, right, left_is_constant)
            return None
        left, other = self._operand(term.left, right), self._operand(term.right, right)
        if self.blocks.block_of[left.variable] > self.blocks.block_of[other.variable]:
            return PathTerm(other, FLIPPED[term.operator], left)
        return PathTerm(left, term.operator, other)

    def _filter(self, term: TermSyntax, right: int, is_flipped: bool) -> None:
        """Put a comparison with a constant on the node of its variable."""
        operand, constant = (term.right, term.left) if is_flipped else (term.left, term.right)
        operator = FLIPPED[term.operator] if is_flipped else term.operator
        if isinstance(operand, _CONSTANTS):
            message = "both sides are constants"
            raise self.lowering.error(
                "PQ0409", message, term.span, "compare a variable: x = 'value'"
            )
        variable, steps = self._variable(operand, right)
        path = s.Path(False, steps, operand.span)
        kinds = self.blocks.kinds_of[variable.text]
        comparison = s.Binary(operator, path, constant, term.span)
        truth = self.lowering.truth(comparison, UNDER_TEST)
        condition = as_condition(truth, kinds, self.lowering.slots)
        before = self.filters.get(variable.text)
        both = condition if before is None else conjunction(before, condition)
        self.filters[variable.text] = both

    def _operand(self, expression: s.Expression, right: int) -> Operand:
        variable, steps = self._variable(expression, right)
        chain = Chain(False, (), self.blocks.kinds_of[variable.text])
        for step in steps:
            chain = self.blocks.extended(chain, step)
        return Operand(variable.text, chain.twig())

    def _variable(self, expression: s.Expression, right: int) -> tuple[Name, tuple[s.Step, ...]]:
        """Return the variable that an operand begins with, and the steps from its node."""
        first = expression.steps[0] if isinstance(expression, s.Path) and expression.steps else None
        if (
            not isinstance(expression, s.Path)
            or expression.absolute
            or expression.start is not None
            or first is None
            or first.axis is not Axis.CHILD
            or not isinstance(first.test, s.NameTest)
            or first.test.local is None
        ):
            message = "an operand is a variable, a path from one, or a constant"
            way_out = "write x, x/@id or 'text'; what a function says belongs into a block"
            raise self.lowering.error("PQ0409", message, expression.span, way_out)
        for span in self.blocks.bindings:
            if expression.span[0] <= span[0] and span[1] <= expression.span[1]:
                message = "a predicate of an operator binds no variable"
                raise self.lowering.error("PQ0404", message, span, "bind it in the block")
        prefix = "" if first.test.prefix is None else f"{first.test.prefix}:"
        name = Name(prefix + first.test.local, first.test.span)
        self.check_bound(name, right)
        here = s.Step(
            Axis.SELF, s.KindTest("node", None, name.span), first.predicates, name.span, name.span
        )
        return name, (here, *expression.steps[1:])

    def check_bound(self, name: Name, right: int) -> None:
        """Raise where a name is no variable of the blocks up to ``right`` that are present."""
        block = self.blocks.block_of.get(name.text)
        if block is None or block > right:
            known = sorted(
                other
                for other, bound in self.blocks.block_of.items()
                if bound <= right and bound not in self.absent and not other.isdigit()
            )
            message = f"no block here binds `{name.text}`"
            if block is not None:
                message = f"`{name.text}` is bound only after this operator"
            way_out = f"the variables here are {', '.join(known)}"
            if not known:
                way_out = f"bind a node to it: S//book->{name.text}"
            raise self.lowering.error("PQ0403", message, name.span, way_out)
        if block in self.absent:
            message = f"`{name.text}` belongs to a block that is absent from every result"
            way_out = "use a variable from before NOT FOLLOWED BY"
            raise self.lowering.error("PQ0408", message, name.span, way_out)


def guard(block: Block, filters: dict[str, x.Condition]) -> Block:
    """Return a block with conditions added to the nodes of its variables."""
    return replace(block, alternatives=tuple(_guard(twig, filters) for twig in block.alternatives))


def _guard(twig: x.TwigNode, filters: dict[str, x.Condition]) -> x.TwigNode:
    branches = tuple(x.Branch(_guard(b.node, filters), b.optional) for b in twig.branches)
    where = twig.where
    if twig.variable in filters:
        where = conjunction(where, filters[twig.variable])
    return replace(twig, where=where, branches=branches)
