"""The SQL of a template: one conjunctive query over witnesses, for all its rows at once.

A statement first finds the slots of the template, for the pairs of documents that meet; then, for
each shape that its rows have, what their trees ask beside the template, and their terms. What it
yields are the distinct tuples of kept nodes of every combination of documents.

Names in braces are relations: ``rows`` is RT; ``left_bindings``, ``left_edges`` and their right
counterparts are RL and RR; ``meetings`` are in ``relations``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.planning.templates import LEFT, TOP, Place, Template, Term
from penstock.spark.joins.batch.rounds import Group, Shape

SIDES = ("left", "right")

NODE = "STRUCT<document: BIGINT, node: INT>"
_NUMBER = r"^[ \t\r\n]*-?([0-9]+([.][0-9]*)?|[.][0-9]+)[ \t\r\n]*$"
"""What XPath takes for a number; everything else is not one and compares with nothing."""


def template_sql(group: Group) -> str:
    """Return the statement of a group: rows (row, parts, nodes, time)."""
    if group.template is None:
        return "\nUNION ALL\n".join(_alone(shape, number) for shape, number in group.shapes.items())
    branches = [
        (_absence if shape.is_absence else _presence)(shape, number, group.is_chained)
        for shape, number in group.shapes.items()
    ]
    slots = _indented(_slots(group.template))
    return f"WITH slots AS (\n{slots}\n)\n" + "\nUNION ALL\n".join(branches)


def _slots(template: Template) -> str:
    """Return the conjunctive query of a template: a node for each slot."""
    sides = [
        _Slots(name, parents, {join[side] for join in template.joins})
        for side, (name, parents) in enumerate(
            zip(SIDES, (template.left, template.right), strict=True)
        )
    ]
    joins: list[str] = []
    equalities = []
    for join in template.joins:
        values = []
        for side, slot in zip(sides, join, strict=True):
            joins += side.reach(slot)
            values.append(f"{side.alias(slot)}.value")
        equalities.append(" = ".join(values))
    nodes = [f"{node} AS {side.alias(slot)}" for side in sides for slot, node in side.in_order()]
    return "\n".join(
        [
            "SELECT rows.*, met.left_document, met.right_document, met.left_time, met.right_time,",
            f"  {', '.join(nodes)}",
            "FROM {meetings} AS met",
            "JOIN {rows} AS rows ON rows.left_access = met.left_variable"
            " AND rows.right_access = met.right_variable"
            " AND met.right_time - met.left_time BETWEEN rows.low AND rows.high",
            *joins,
            f"WHERE {' AND '.join(equalities)}",
        ]
    )


class _Slots:
    """The slots of one side, each joined when it is reached, after those above it."""

    def __init__(self, side: str, parents: tuple[int, ...], joined: set[int]) -> None:
        self._side = side
        self._parents = parents
        self._joined = joined
        self._nodes: dict[int, str] = {}

    def alias(self, slot: int) -> str:
        return f"{self._side}_{slot}"

    def in_order(self) -> list[tuple[int, str]]:
        """Return the slots and the expressions of their nodes."""
        return sorted(self._nodes.items())

    def reach(self, slot: int) -> Iterator[str]:
        """Yield the joins that give a slot its node, unless it has one."""
        if slot in self._nodes:
            return
        parent, alias, side = self._parents[slot], self.alias(slot), self._side
        at = f"{alias}.document = met.{side}_document"
        self._nodes[slot] = f"{alias}.node"
        if parent == TOP:
            yield (
                f"JOIN {{{side}_bindings}} AS {alias} ON {at}"
                f" AND {alias}.variable = rows.{side}_slot_{slot}"
            )
            return
        # A top that joins nothing by itself is wherever the edges say that it is.
        if self._parents[parent] != TOP or parent in self._joined:
            yield from self.reach(parent)
        join = f"JOIN {{{side}_edges}} AS {alias} ON {at}"
        join += f" AND {alias}.edge = rows.{side}_slot_{slot}"
        if parent in self._nodes:
            join += f" AND {alias}.above = {self._nodes[parent]}"
        else:
            self._nodes[parent] = f"{alias}.above"
        yield join


def _presence(shape: Shape, number: int, is_chained: bool) -> str:
    """Return what rows of a shape find: kept nodes of both sides."""
    left, right = _trees(shape)
    joins = [*left.joins(), *right.joins()]
    terms = _terms(shape.terms, (left, right), joins)
    nodes = [
        _node(document, (left, right)[place.side].nodes[place.place], chained)
        for place in shape.kept
        for document, chained in [
            (f"slots.{SIDES[place.side]}_document", is_chained and place.side == LEFT)
        ]
    ]
    parts = _parts("slots.left_document", is_chained)
    return "\n".join(
        [
            f"SELECT DISTINCT slots.row, concat({parts}, array(slots.right_document)) AS parts,",
            f"  {_array(nodes)} AS nodes, greatest(slots.left_time, slots.right_time) AS time",
            "FROM slots",
            *joins,
            f"WHERE {' AND '.join([f'slots.shape = {number}', *terms])}",
        ]
    )


def _absence(shape: Shape, number: int, is_chained: bool) -> str:
    """Return what rows of a shape find: kept nodes of left bindings that nothing followed."""
    left, right = _trees(shape)
    joins = [*left.joins(), *right.joins()]
    terms = _terms(shape.terms, (left, right), joins)
    followed = "\n".join(
        [
            f"SELECT slots.row, slots.left_document AS document, {left.columns()}",
            "FROM slots",
            *joins,
            f"WHERE {' AND '.join([f'slots.shape = {number}', *terms])}",
        ]
    )
    places = range(len(shape.left))
    same = ["row", "document", *(f"place_{place}" for place in places)]
    nodes = [_node("bound.document", f"bound.place_{at.place}", is_chained) for at in shape.kept]
    return "\n".join(
        [
            f"SELECT DISTINCT bound.row, {_parts('bound.document', is_chained)} AS parts,",
            f"  {_array(nodes)} AS nodes, bound.time AS time",
            f"FROM (\n{_indented(_left_bindings(shape, number))}\n) AS bound",
            f"LEFT ANTI JOIN (\n{_indented(followed)}\n) AS followed ON "
            + " AND ".join(f"followed.{name} = bound.{name}" for name in same),
        ]
    )


def _alone(shape: Shape, number: int) -> str:
    """Return what a query of one block finds: the kept nodes of each document."""
    nodes = [_node("bound.document", f"bound.place_{at.place}", False) for at in shape.kept]
    return "\n".join(
        [
            "SELECT DISTINCT bound.row, array(bound.document) AS parts,",
            f"  {_array(nodes)} AS nodes, bound.time AS time",
            f"FROM (\n{_indented(_left_bindings(shape, number))}\n) AS bound",
        ]
    )


def _left_bindings(shape: Shape, number: int) -> str:
    """Return the bindings of the left tree by itself, with the terms that concern it alone."""
    tree = _Tree("left", shape.left, "rows")
    joins = list(tree.joins())
    own = [term for term in shape.terms if term.left.side == term.right.side == LEFT]
    terms = _terms(own, (tree, tree), joins)
    return "\n".join(
        [
            f"SELECT rows.row, {tree.first}.document, {tree.first}.time, {tree.columns()}",
            "FROM {rows} AS rows",
            *joins,
            f"WHERE {' AND '.join([f'rows.shape = {number}', *terms])}",
        ]
    )


def _trees(shape: Shape) -> tuple[_Tree, _Tree]:
    """Return both trees of a shape, with their slots found."""
    left, right = (
        _Tree(side, parents, "slots", {place: n for n, place in enumerate(slots)})
        for side, parents, slots in (
            ("left", shape.left, shape.left_slots),
            ("right", shape.right, shape.right_slots),
        )
    )
    return left, right


class _Tree:
    """A witness tree: what a statement joins to get from the slots to all places.

    Without slots it begins at its first edge. ``rows`` names the relation with the row's columns.
    """

    def __init__(
        self, side: str, parents: tuple[int, ...], rows: str, slots: dict[int, int] | None = None
    ) -> None:
        self.side = side
        self.rows = rows
        self.first = ""
        self._parents = parents
        self._slots = slots or {}
        self.nodes = {place: f"slots.{side}_{slot}" for place, slot in self._slots.items()}

    @property
    def document(self) -> str:
        """The expression of the tree's document."""
        return f"{self.first}.document" if self.first else f"slots.{self.side}_document"

    def joins(self) -> Iterator[str]:
        """Yield the joins that give every place its node."""
        if not self.nodes and len(self._parents) == 1:
            self.first = self._alias(0)
            self.nodes[0] = f"{self.first}.node"
            yield (
                f"JOIN {{{self.side}_bindings}} AS {self.first}"
                f" ON {self.first}.variable = {self.rows}.{self.side}_variable_0"
            )
        # Between two slots the template has been.
        waiting = [
            (parent, place)
            for place, parent in enumerate(self._parents)
            if parent != TOP and not (parent in self._slots and place in self._slots)
        ]
        while waiting:
            edge = next((e for e in waiting if not self.nodes or self._is_bound(e)), None)
            assert edge is not None, "a tree hangs together"
            waiting.remove(edge)
            yield self._join(*edge)

    def columns(self) -> str:
        """Return the nodes of all places as columns."""
        places = sorted(self.nodes.items())
        return ", ".join(f"{node} AS place_{place}" for place, node in places)

    def value(self, place: int) -> tuple[str, str]:
        """Return the join that gives the value of a place, and the value."""
        alias = f"{self.side}_value_{place}"
        join = (
            f"JOIN {{{self.side}_bindings}} AS {alias} ON {alias}.document = {self.document}"
            f" AND {alias}.variable = {self.rows}.{self.side}_variable_{place}"
            f" AND {alias}.node = {self.nodes[place]}"
        )
        return join, f"{alias}.value"

    def _is_bound(self, edge: tuple[int, int]) -> bool:
        return any(place in self.nodes for place in edge)

    def _join(self, parent: int, place: int) -> str:
        alias = self._alias(place)
        conditions = [f"{alias}.edge = {self.rows}.{self.side}_edge_{place}"]
        if self.nodes:
            conditions.insert(0, f"{alias}.document = {self.document}")
        else:
            self.first = alias
        for end, column in ((parent, "above"), (place, "node")):
            if end in self.nodes:
                conditions.append(f"{alias}.{column} = {self.nodes[end]}")
            else:
                self.nodes[end] = f"{alias}.{column}"
        return f"JOIN {{{self.side}_edges}} AS {alias} ON {' AND '.join(conditions)}"

    def _alias(self, place: int) -> str:
        return f"{self.side}_place_{place}"


def _terms(terms: Iterable[Term], trees: tuple[_Tree, _Tree], joins: list[str]) -> list[str]:
    """Return the conditions of terms; what gives them their values is added to ``joins``."""
    values: dict[Place, str] = {}
    made = []
    for term in terms:
        for place in (term.left, term.right):
            if place not in values:
                join, values[place] = trees[place.side].value(place.place)
                joins.append(join)
        one, two = values[term.left], values[term.right]
        if term.operator in ("=", "!="):
            made.append(f"{one} {term.operator} {two}")
        else:
            made.append(f"{_number(one)} {term.operator} {_number(two)}")
    return made


def _number(value: str) -> str:
    return f"CASE WHEN {value} RLIKE r'{_NUMBER}' THEN CAST({value} AS DOUBLE) END"


def _node(document: str, node: str, is_chained: bool) -> str:
    """Return a node; that of a partial match is the one that was kept."""
    if is_chained:
        return f"get({document}.nodes, {node})"
    return f"named_struct('document', {document}, 'node', {node})"


def _parts(document: str, is_chained: bool) -> str:
    return f"{document}.parts" if is_chained else f"array({document})"


def _array(nodes: list[str]) -> str:
    return f"CAST(array({', '.join(nodes)}) AS ARRAY<{NODE}>)"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.split("\n"))
