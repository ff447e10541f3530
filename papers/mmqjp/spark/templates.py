"""The SQL of a template: one conjunctive query over witnesses, for all its rows at once.

A statement finds, for the pairs of documents that meet, a node for each place of both trees: first
for the places that join, then for the others. It has one part for each shape that the rows of the
template have. What it yields are the distinct tuples of kept nodes of every combination of
documents.

Names in braces are relations: ``rows`` is RT; ``left_bindings``, ``left_edges`` and their right
counterparts are RL and RR; ``meetings`` are in ``relations``.
"""

from __future__ import annotations

from collections.abc import Iterable

from papers.mmqjp.spark.rounds import Group, Shape
from penstock.planning.templates import LEFT, TOP, Term

SIDES = ("left", "right")

NODE = "STRUCT<document: BIGINT, node: INT>"
_NUMBER = r"^[ \t\r\n]*-?([0-9]+([.][0-9]*)?|[.][0-9]+)[ \t\r\n]*$"
"""What XPath takes for a number; everything else is not one and compares with nothing."""


def template_sql(group: Group) -> str:
    """Return the statement of a group: rows (row, parts, nodes, time)."""
    parts = []
    for shape, number in group.shapes.items():
        if group.template is None:
            parts.append(_alone(shape, number))
        else:
            part = _absence if shape.is_absence else _presence
            parts.append(part(shape, number, group.is_chained))
    return "\nUNION ALL\n".join(parts)


def _bindings(shape: Shape, number: int) -> tuple[_Tree, _Tree, list[str]]:
    """Return both trees of a shape, and the clauses that give all their places nodes."""
    left, right = _Tree("left", shape.left, "met"), _Tree("right", shape.right, "met")
    joins: list[str] = []
    conditions = []
    for one, other in shape.joins:
        values = [tree.value(place, joins) for tree, place in ((left, one), (right, other))]
        conditions.append(" = ".join(values))
    for tree in (left, right):
        tree.reach_all(joins)
    conditions += _terms(shape.terms, (left, right), joins)
    return (
        left,
        right,
        [
            "FROM {meetings} AS met",
            "JOIN {rows} AS rows ON rows.left_access = met.left_variable"
            f" AND rows.right_access = met.right_variable AND rows.shape = {number}"
            " AND met.right_time - met.left_time BETWEEN rows.low AND rows.high",
            *joins,
            f"WHERE {' AND '.join(conditions)}",
        ],
    )


def _presence(shape: Shape, number: int, is_chained: bool) -> str:
    """Return what rows of a shape find: kept nodes of both sides."""
    left, right, clauses = _bindings(shape, number)
    nodes = [
        _node(tree.document, tree.nodes[place.place], is_chained and place.side == LEFT)
        for place in shape.kept
        for tree in ((left, right)[place.side],)
    ]
    parts = _parts(left.document, is_chained)
    return "\n".join(
        [
            f"SELECT DISTINCT rows.row, concat({parts}, array({right.document})) AS parts,",
            f"  {_array(nodes)} AS nodes, greatest(met.left_time, met.right_time) AS time",
            *clauses,
        ]
    )


def _absence(shape: Shape, number: int, is_chained: bool) -> str:
    """Return what rows of a shape find: kept nodes of left bindings that nothing followed."""
    left, _, clauses = _bindings(shape, number)
    selected = f"SELECT rows.row, {left.document} AS document, {left.columns()}"
    followed = "\n".join([selected, *clauses])
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
    tree = _Tree("left", shape.left)
    joins: list[str] = []
    tree.reach_all(joins)
    own = [term for term in shape.terms if term.left.side == term.right.side == LEFT]
    conditions = [f"rows.shape = {number}", *_terms(own, (tree, tree), joins)]
    return "\n".join(
        [
            f"SELECT rows.row, {tree.document}, {tree.first}.time, {tree.columns()}",
            "FROM {rows} AS rows",
            *joins,
            f"WHERE {' AND '.join(conditions)}",
        ]
    )


class _Tree:
    """A witness tree: what a statement joins to give its places nodes.

    Places that have nodes hang together, so nothing is multiplied that is not asked for. ``met``
    names the relation that has the tree's document; without it the first join gives the document.
    """

    def __init__(self, side: str, parents: tuple[int, ...], met: str = "") -> None:
        self.side = side
        self.first = ""
        self.document = f"{met}.{side}_document" if met else ""
        self.nodes: dict[int, str] = {}
        self._parents = parents
        self._values: dict[int, str] = {}
        self._top = TOP
        """The highest place that has a node."""

    def reach_all(self, joins: list[str]) -> None:
        """Give every place its node."""
        # The top comes with the edge of whoever is first below it.
        for place in (*range(1, len(self._parents)), 0):
            self.reach(place, joins)

    def reach(self, place: int, joins: list[str]) -> None:
        """Give a place its node, on the shortest way from those that have one."""
        if not self.nodes:
            self._top = place
            if self._parents[place] == TOP:
                self._bind(place, f"{self.side}_place_{place}", joins)
            else:
                self._step(place, joins)
                self._top = self._parents[place]
        way = [place]
        while self._parents[way[-1]] != TOP:
            way.append(self._parents[way[-1]])
        while self._top not in way:
            self._step(self._top, joins)
            self._top = self._parents[self._top]
        for below in reversed(way[: way.index(self._top)]):
            if below not in self.nodes:
                self._step(below, joins)

    def value(self, place: int, joins: list[str]) -> str:
        """Return the string value of a place."""
        self.reach(place, joins)
        if place not in self._values:
            self._bind(place, f"{self.side}_value_{place}", joins)
        return self._values[place]

    def columns(self) -> str:
        """Return the nodes of all places as columns."""
        places = sorted(self.nodes.items())
        return ", ".join(f"{node} AS place_{place}" for place, node in places)

    def _bind(self, place: int, alias: str, joins: list[str]) -> None:
        """Join the bindings of a place's variable."""
        self._values[place] = f"{alias}.value"
        ends = {"node": place}
        self._join("bindings", alias, f"variable = rows.{self.side}_variable_{place}", ends, joins)

    def _step(self, place: int, joins: list[str]) -> None:
        """Join the edge between a place and its parent."""
        alias = f"{self.side}_place_{place}"
        self._values[place] = f"{alias}.value"
        ends = {"above": self._parents[place], "node": place}
        self._join("edges", alias, f"edge = rows.{self.side}_edge_{place}", ends, joins)

    def _join(
        self, relation: str, alias: str, condition: str, ends: dict[str, int], joins: list[str]
    ) -> None:
        conditions = [f"{alias}.{condition}"]
        if self.document:
            conditions.insert(0, f"{alias}.document = {self.document}")
        else:
            self.first, self.document = alias, f"{alias}.document"
        for column, place in ends.items():
            if place in self.nodes:
                conditions.append(f"{alias}.{column} = {self.nodes[place]}")
            else:
                self.nodes[place] = f"{alias}.{column}"
        on = " AND ".join(conditions)
        joins.append(f"JOIN {{{self.side}_{relation}}} AS {alias} ON {on}")


def _terms(terms: Iterable[Term], trees: tuple[_Tree, _Tree], joins: list[str]) -> list[str]:
    """Return the conditions of terms; what gives them their values is added to ``joins``."""
    conditions = []
    for term in terms:
        one, two = (trees[at.side].value(at.place, joins) for at in (term.left, term.right))
        if term.operator in ("=", "!="):
            conditions.append(f"{one} {term.operator} {two}")
        else:
            conditions.append(f"{_number(one)} {term.operator} {_number(two)}")
    return conditions


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
