"""From a query to its rows: one for each operator, each with its minors and its template."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b

from penstock.planning.rewrites.value_joins import to_value_joins
from penstock.planning.templates.definitions import Definitions, Form, normal_form
from penstock.planning.templates.isomorphism import number_slots
from penstock.planning.templates.rows import LEFT, RIGHT, Alone, JoinQuery, Place, Row, Term
from penstock.planning.templates.sides import Partials, Side, Source
from penstock.planning.templates.variables import PARTIAL
from penstock.twigs import Comparison, Element, Event, Insert, Join, NodeKind, Query
from penstock.twigs.expressions import nodes_of
from penstock.twigs.outputs import Content

MICROSECONDS = 1_000_000

_WHOLE = (NodeKind.ELEMENT, NodeKind.DOCUMENT)


def compile_join(query: Query, form: Form = normal_form) -> JoinQuery:
    """Return the rows of a query whose output is an event.

    Compiling is pure: equal queries give equal rows, and nothing but the query is looked at.
    ``form`` brings the paths of variables into the form that they have afterwards.

    Raises:
        QueryError: The normal form of a path would be too large.
    """
    return _Compiler(to_value_joins(query), form).join_query()


class _Compiler:
    def __init__(self, query: Query, form: Form) -> None:
        assert isinstance(query.output, Event), "only events are joined"
        self._query = query
        self._form = form
        self._event = query.output
        self._inserted = self._values_out()

    def join_query(self) -> JoinQuery:
        if not self._query.joins:
            return JoinQuery((), self._event, self._alone())
        rows = []
        left: Source = self._block(0, self._query.joins[0])
        for number, join in enumerate(self._query.joins):
            right = self._block(join.right, join)
            later = self._query.joins[number + 1 :]
            compared = [name for one in later for name in _compared(one)]
            known = {*left.nodes, *right.nodes}
            kept = [n for n in dict.fromkeys([*self._event.select, *compared]) if n in known]
            row = self._row(join, (left, right), kept, [*compared, *self._inserted])
            if later:
                row = replace(row, output=name_partials(row))
                assert row.output is not None
                left = Partials(row.output, kept)
            rows.append(row)
        return JoinQuery(tuple(rows), self._event)

    def _alone(self) -> Alone:
        (block,) = self._query.blocks
        source = Definitions(self._query, block, (), self._form)
        selected = self._event.select
        side = Side(source, (), [*_operands(block.filters), *self._inserted], selected)
        kept = tuple(Place(LEFT, side.place(name)) for name in selected)
        terms = [_term(part, LEFT, side, LEFT, side) for part in block.filters]
        return Alone(side.tree(), tuple(terms), kept)

    def _block(self, block: int, join: Join) -> Definitions:
        """Return the variables of a block, in the operator that it enters by."""
        is_right = block == join.right
        joining = [pair[is_right] for pair in join.equalities]
        return Definitions(self._query, self._query.blocks[block], joining, self._form)

    def _row(
        self, join: Join, sources: tuple[Source, Source], kept: list[str], values: list[str]
    ) -> Row:
        """Return the row of an operator; ``values`` of kept variables are needed afterwards."""
        # The filters of a block belong to the operator that it enters by.
        filters = [(), self._query.blocks[join.right].filters]
        if join is self._query.joins[0]:
            filters[LEFT] = self._query.blocks[0].filters
        sides = []
        for number, source in enumerate(sources):
            valued = [(part.left, part.right)[number] for part in join.inequalities]
            valued += _operands(filters[number])
            valued += [name for name in values if name in source.nodes]
            joining = [pair[number] for pair in join.equalities]
            sides.append(Side(source, joining, valued, [n for n in kept if n in source.nodes]))
        left, right = sides
        pairs = [(left.minor_place(one), right.minor_place(two)) for one, two in join.equalities]
        template, left_order, right_order = number_slots(
            left.minor_parents, right.minor_parents, tuple(pairs)
        )
        terms = [_term(part, LEFT, left, RIGHT, right) for part in join.inequalities]
        for number, side in enumerate(sides):
            terms += [_term(part, number, side, number, side) for part in filters[number]]
        places = [RIGHT if name in sources[RIGHT].nodes else LEFT for name in kept]
        window = join.window_seconds
        return Row(
            template,
            join.kind,
            None if window is None else round(window * MICROSECONDS),
            left.tree(left_order),
            right.tree(right_order),
            tuple(terms),
            tuple(Place(n, sides[n].place(name)) for n, name in zip(places, kept, strict=True)),
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


def _compared(join: Join) -> list[str]:
    """Return the variables whose values an operator compares."""
    return [*(name for pair in join.equalities for name in pair), *_operands(join.inequalities)]


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


def name_partials(row: Row) -> str:
    """Return the name of the stream of a row's partial matches: equal rows, equal names."""
    trees = [
        (tree.stream, [variable.key for variable in tree.variables], tree.parents, tree.slots)
        for tree in (row.left, row.right)
    ]
    content = (row.template, row.kind.value, row.window_us, trees, row.terms, row.kept)
    encoded = repr(content).encode("utf-8", "surrogatepass")
    return PARTIAL + blake2b(encoded, digest_size=16).hexdigest()
