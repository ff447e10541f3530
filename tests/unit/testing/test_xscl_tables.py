"""The representation carries XSCL: MMQJP's queries (table 2) give the relations of table 4.

The documents follow the paper's figures 1 and 2: nodes are numbered in pre-order from the root,
and node 1 of each is an element that no query asks for.
"""

import pytest

from penstock.testing.reference import Arrival, Scope, events, join
from penstock.testing.reference.witnesses import (
    edges,
    joining_variables,
    matches_of,
    values,
)
from penstock.testing.tree import Node, Tree, parse
from penstock.twigs import Block, Branch, Event, Join, JoinKind, NodeKind, Query
from penstock.twigs.patterns import variables_of
from tests.unit.testing.builders import block, descendant

D1 = parse(
    "<book><publisher>Wiley</publisher><author>Danny Ayers</author><author>Andrew Watt</author>"
    "<title>Beginning RSS and Atom Programming</title>"
    "<category>Scripting &amp; Programming</category><category>Web Site Development</category>"
    "</book>"
)
D2 = parse(
    "<blog><url>http://dannyayers.example/</url><author>Danny Ayers</author>"
    "<title>Beginning RSS and Atom Programming</title><category>Book Announcement</category>"
    "<category>Scripting &amp; Programming</category></blog>"
)
HOUR = 3600.0


def pattern(root: tuple[str, str], *leaves: tuple[str, str]) -> Block:
    """Return ``S//root->x[.//leaf->y]…``."""
    branches = [Branch(descendant(name, to=variable)) for name, variable in leaves]
    return block(descendant(root[0], *branches, to=root[1]), stream="S")


def followed_by(left: Block, right: Block, *equalities: tuple[str, str], window: float) -> Query:
    joins = (Join(JoinKind.FOLLOWED_BY, 1, equalities, window),)
    return Query((left, right), Event(), joins=joins, language="xscl")


Q1 = followed_by(
    pattern(("book", "x1"), ("author", "x2"), ("title", "x3")),
    pattern(("blog", "x4"), ("author", "x5"), ("title", "x6")),
    ("x2", "x5"),
    ("x3", "x6"),
    window=HOUR,
)
Q2 = followed_by(
    pattern(("book", "x1"), ("author", "x2"), ("category", "x7")),
    pattern(("blog", "x4"), ("author", "x5"), ("category", "x8")),
    ("x2", "x5"),
    ("x7", "x8"),
    window=2 * HOUR,
)
Q3 = followed_by(
    pattern(("blog", "x4"), ("author", "x5"), ("title", "x6")),
    pattern(("blog", "x4'"), ("author", "x5'"), ("title", "x6'")),
    ("x5", "x5'"),
    ("x6", "x6'"),
    window=3 * HOUR,
)
QUERIES = {"Q1": Q1, "Q2": Q2, "Q3": Q3}


def elements(tree: Tree) -> list[Node]:
    return [node for node in tree.nodes if node.kind is NodeKind.ELEMENT]


def number(tree: Tree, node: Node) -> int:
    """Return the paper's node id: the place among the elements in pre-order."""
    return elements(tree).index(node)


def canonical(variable: str) -> str:
    """Variables of one definition have one name (section 2): x5' is defined as x5 is."""
    return variable.rstrip("'")


def relation_of_edges(tree: Tree) -> set[tuple[str, str, int, int]]:
    return {
        (canonical(var1), canonical(var2), number(tree, node1), number(tree, node2))
        for query in QUERIES.values()
        for part in query.blocks
        for var1, var2, node1, node2 in edges(matches_of(part, Scope(tree.root)))
    }


def relation_of_values(tree: Tree) -> set[tuple[int, str | None]]:
    return {
        (number(tree, node), value)
        for query in QUERIES.values()
        for part in query.blocks
        for node, value in values(
            matches_of(part, Scope(tree.root)), joining_variables(query)
        ).items()
    }


def template_row(name: str) -> tuple[object, ...]:
    """Return a row of RT: the variables of both patterns from the top down, and the window."""
    query = QUERIES[name]
    variables = [v for part in query.blocks for v in variables_of(part.alternatives[0])]
    return (name, *map(canonical, variables), query.joins[0].window_seconds)


def test_table_4a_the_three_queries_are_rows_of_one_template() -> None:
    assert [template_row(name) for name in QUERIES] == [
        ("Q1", "x1", "x2", "x3", "x4", "x5", "x6", HOUR),
        ("Q2", "x1", "x2", "x7", "x4", "x5", "x8", 2 * HOUR),
        ("Q3", "x4", "x5", "x6", "x4", "x5", "x6", 3 * HOUR),
    ]


def test_table_4b_values_of_the_book() -> None:
    assert relation_of_values(D1) == {
        (0, None),
        (2, "Danny Ayers"),
        (3, "Andrew Watt"),
        (4, "Beginning RSS and Atom Programming"),
        (5, "Scripting & Programming"),
        (6, "Web Site Development"),
    }


def test_table_4c_edges_of_the_book() -> None:
    assert relation_of_edges(D1) == {
        ("x1", "x2", 0, 2),
        ("x1", "x2", 0, 3),
        ("x1", "x3", 0, 4),
        ("x1", "x7", 0, 5),
        ("x1", "x7", 0, 6),
    }


def test_table_4d_values_of_the_blog_article() -> None:
    assert relation_of_values(D2) == {
        (0, None),
        (2, "Danny Ayers"),
        (3, "Beginning RSS and Atom Programming"),
        (4, "Book Announcement"),
        (5, "Scripting & Programming"),
    }


def test_table_4e_edges_of_the_blog_article() -> None:
    assert relation_of_edges(D2) == {
        ("x4", "x5", 0, 2),
        ("x4", "x6", 0, 3),
        ("x4", "x8", 0, 4),
        ("x4", "x8", 0, 5),
    }


def arrivals(seconds: float, left: Tree = D1, right: Tree = D2) -> list[Arrival]:
    return [Arrival("d1", left, 0.0, "S"), Arrival("d2", right, seconds, "S")]


def test_table_4f_the_bindings_that_join() -> None:
    numbers = {node: number(tree, node) for tree in (D1, D2) for node in elements(tree)}
    rows = [
        (name, joined.documents[0], *(numbers[node] for _, node in joined.bindings))
        for name, query in QUERIES.items()
        for joined in join(query, arrivals(1.0))
    ]
    assert rows == [("Q1", "d1", 0, 2, 4, 0, 2, 3), ("Q2", "d1", 0, 2, 5, 0, 2, 5)]


def test_the_result_has_the_roots_of_both_patterns_under_a_new_root() -> None:
    (book, blog) = D1.root.children[0], D2.root.children[0]
    for name in ("Q1", "Q2"):
        assert [nodes for _, nodes in events(QUERIES[name], arrivals(1.0))] == [(book, blog)]


def test_cross_postings_join_two_documents_of_one_kind() -> None:
    assert [joined.documents for joined in join(Q3, arrivals(1.0, D2, D2))] == [("d1", "d2")]


@pytest.mark.parametrize(("seconds", "count"), [(0.0, 0), (HOUR, 1), (HOUR + 1, 0), (-1.0, 0)])
def test_followed_by_asks_for_a_later_document_within_the_window(
    seconds: float, count: int
) -> None:
    assert len(join(Q1, arrivals(seconds))) == count
