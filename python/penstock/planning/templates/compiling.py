"""From a query to its rows: one for each operator, each with its minors and its template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from penstock.planning.rewrites.value_joins import to_value_joins
from penstock.planning.templates.definitions import Definitions
from penstock.planning.templates.isomorphism import number_slots
from penstock.planning.templates.rows import LEFT, RIGHT, Alone, JoinQuery, Place, Row, Term
from penstock.planning.templates.sides import Partials, Side, Source
from penstock.planning.templates.variables import PARTIAL
from penstock.twigs import Comparison, Element, Event, Insert, Join, NodeKind, Query
from penstock.twigs.outputs import Content
from penstock.twigs.patterns import nodes_of

MICROSECONDS = 1_000_000

_WHOLE = (NodeKind.ELEMENT, NodeKind.DOCUMENT)


def compile_join(query: Query) -> JoinQuery:
    """Return the rows of a query whose output is an event.

    Compiling is pure: equal queries give equal rows, and nothing but the query is looked at.

    Raises:
        QueryError: The normal form of a path would be too large.
    """
    return _Compiler(to_value_joins(query)).join_query()


class _Compiler:
    def __init__(self, query: Query) -> None:
        assert isinstance(query.output, Event), "only events are joined"
        self._query = query
        self._event = query.output
        self._inserted = self._values_out()

    def join_query(self) -> JoinQuery:
        if not self._query.joins:
            return JoinQuery((), self._event, self._alone())
        rows = []
        left: Source = self._block(0, self._query.joins[0])
        for number, join in enumerate(self._query.joins):
            kept = self._kept(number, {*left.nodes, *self._block(join.right, join).nodes})
            row = self._row(join, left, kept)
            if number + 1 < len(self._query.joins):
                row = replace(row, output=_name(row))
                assert row.output is not None
                left = Partials(row.output, kept)
            rows.append(row)
        return JoinQuery(tuple(rows), self._event)

    def _alone(self) -> Alone:
        (block,) = self._query.blocks
        source = Definitions(self._query, block, ())
        selected = self._event.select
        side = Side(source, (), [*_operands(block.filters), *self._inserted], selected)
        kept = tuple(Place(LEFT, side.place(name)) for name in selected)
        terms = [_term(part, LEFT, side, LEFT, side) for part in block.filters]
        return Alone(side.tree(), tuple(terms), kept)

    def _block(self, block: int, join: Join) -> Definitions:
        """Return the variables of a block, in the operator that it enters by."""
        is_right = block == join.right
        joining = [pair[is_right] for pair in join.equalities]
        return Definitions(self._query, self._query.blocks[block], joining)

    def _kept(self, number: int, known: set[str]) -> tuple[str, ...]:
        """Return the variables that the output and the operators after one ask for."""
        used = list(self._event.select)
        for join in self._query.joins[number + 1 :]:
            used += [name for pair in join.equalities for name in pair]
            used += _operands(join.inequalities)
        return tuple(name for name in dict.fromkeys(used) if name in known)

    def _row(self, join: Join, left: Source, kept: Sequence[str]) -> Row:
        right = self._block(join.right, join)
        filters = ((), self._query.blocks[join.right].filters)
        if join is self._query.joins[0]:
            filters = (self._query.blocks[0].filters, filters[RIGHT])
        sides = []
        for number, source in enumerate((left, right)):
            valued = [(part.left, part.right)[number] for part in join.inequalities]
            valued += _operands(filters[number])
            valued += [name for name in self._inserted if name in source.nodes]
            joining = [pair[number] for pair in join.equalities]
            sides.append(Side(source, joining, valued, [n for n in kept if n in source.nodes]))
        joins = tuple(
            (sides[LEFT].minor_place(one), sides[RIGHT].minor_place(other))
            for one, other in join.equalities
        )
        template, *orders = number_slots(*(side.minor_parents for side in sides), joins)
        terms = [_term(part, LEFT, sides[LEFT], RIGHT, sides[RIGHT]) for part in join.inequalities]
        for number, side in enumerate(sides):
            terms += [_term(part, number, side, number, side) for part in filters[number]]
        places = {
            name: Place(number, sides[number].place(name))
            for number, source in enumerate((left, right))
            for name in kept
            if name in source.nodes
        }
        return Row(
            template,
            join.kind,
            None if join.window_seconds is None else round(join.window_seconds * MICROSECONDS),
            *(side.tree(order) for side, order in zip(sides, orders, strict=True)),
            tuple(terms),
            tuple(places[name] for name in kept),
        )

    def _values_out(self) -> tuple[str, ...]:
        """Return the selected variables of which the output takes the string value.

        It has no choice where the node is no element: an attribute is nothing by itself.
        """
        inserted = set(_inserted_values(self._event.content))
        for block in self._query.blocks:
            for twig in block.alternatives:
                inserted.update(
                    node.variable
                    for node in nodes_of(twig)
                    if node.variable is not None and node.test.kind not in _WHOLE
                )
        return tuple(name for name in self._event.select if name in inserted)


def _term(comparison: Comparison, left: int, on: Side, right: int, other: Side) -> Term:
    return Term(
        Place(left, on.place(comparison.left)),
        comparison.operator,
        Place(right, other.place(comparison.right)),
    )


def _operands(comparisons: Sequence[Comparison]) -> list[str]:
    return [name for part in comparisons for name in (part.left, part.right)]


def _inserted_values(content: Sequence[Content]) -> Iterator[str]:
    for part in content:
        match part:
            case Insert(variable=variable, as_value=True):
                yield variable
            case Element(attributes=attributes, content=inner):
                yield from _inserted_values(inner)
                for _, value in attributes:
                    yield from _inserted_values(value)


def _name(row: Row) -> str:
    """Return the name of the stream of a row's partial matches: equal rows, equal names."""
    trees = [
        (tree.stream, [variable.key for variable in tree.variables], tree.parents, tree.slots)
        for tree in (row.left, row.right)
    ]
    content = (row.template, row.kind.value, row.window_us, trees, row.terms, row.kept)
    return (
        PARTIAL
        + blake2b(repr(content).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    )
