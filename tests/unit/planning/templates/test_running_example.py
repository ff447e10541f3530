"""MMQJP's running example, compiled: table 2 gives the relations of table 4, one by one.

Nodes are numbered as in the paper's figures, in pre-order from the root element, and canonical
variables go by the paper's names. Where the paper lists a root without a value, there is no row
here: only variables that join carry values, and the root is known from its edges.
"""

from __future__ import annotations

from penstock.languages.xscl import xscl
from penstock.planning.templates import JoinQuery, Template, Variable, compile_join
from penstock.twigs import NodeKind
from penstock_testing.reference import Arrival
from penstock_testing.reference.rows import evaluate_rows, witness_of
from penstock_testing.tree import Node, Tree, parse

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
HOUR = 3_600_000_000
QUERIES = {
    "Q1": "S//book->x1[.//author->x2][.//title->x3] FOLLOWED BY{x2 = x5 AND x3 = x6, 1 h} "
    "S//blog->x4[.//author->x5][.//title->x6]",
    "Q2": "S//book->x1[.//author->x2][.//category->x7] FOLLOWED BY{x2 = x5 AND x7 = x8, 2 h} "
    "S//blog->x4[.//author->x5][.//category->x8]",
    "Q3": "S//blog->x4[.//author->x5][.//title->x6] FOLLOWED BY{x5 = y5 AND x6 = y6, 3 h} "
    "S//blog->y4[.//author->y5][.//title->y6]",
}
COMPILED: dict[str, JoinQuery] = {name: compile_join(xscl(text)) for name, text in QUERIES.items()}
NAMES = {
    "descendant::book": "x1",
    "descendant::book/descendant::author": "x2",
    "descendant::book/descendant::title": "x3",
    "descendant::blog": "x4",
    "descendant::blog/descendant::author": "x5",
    "descendant::blog/descendant::title": "x6",
    "descendant::book/descendant::category": "x7",
    "descendant::blog/descendant::category": "x8",
}
FIRST, SECOND = Arrival("d1", D1, 0.0, "S"), Arrival("d2", D2, 1.0, "S")


def elements(tree: Tree) -> list[Node]:
    return [node for node in tree.nodes if node.kind is NodeKind.ELEMENT]


def number(tree: Tree, node: Node) -> int:
    """Return the paper's node id: the place among the elements in pre-order."""
    return elements(tree).index(node)


def name(variable: Variable) -> str:
    """Return the paper's name of a canonical variable."""
    assert variable.stream == "S"
    return NAMES[variable.key.removeprefix("self::document()/")]


def edges(arrival: Arrival) -> set[tuple[str, str, int, int]]:
    """Return Rbin or RbinW of a document: what all queries together ask of it."""
    return {
        (name(upper), name(lower), number(arrival.tree, one), number(arrival.tree, other))
        for query in COMPILED.values()
        for tree in query.trees
        for (upper, lower), pairs in witness_of(tree, arrival).edges.items()
        for one, other in pairs
    }


def values(arrival: Arrival) -> set[tuple[int, str]]:
    """Return Rdoc or RdocW of a document."""
    return {
        (number(arrival.tree, node), node.string_value())
        for query in COMPILED.values()
        for tree in query.trees
        for nodes in witness_of(tree, arrival).nodes.values()
        for node in nodes
    }


def test_the_three_queries_have_one_template() -> None:
    templates = {row.template for query in COMPILED.values() for row in query.rows}
    assert templates == {Template((-1, 0, 0), (-1, 0, 0), ((1, 1), (2, 2)))}


def test_table_4a_a_row_of_the_template_for_each_query() -> None:
    rows = {query: compiled.rows[0] for query, compiled in COMPILED.items()}
    assert [(q, *map(name, row.variables), row.window_us) for q, row in rows.items()] == [
        ("Q1", "x1", "x2", "x3", "x4", "x5", "x6", HOUR),
        ("Q2", "x1", "x2", "x7", "x4", "x5", "x8", 2 * HOUR),
        ("Q3", "x4", "x5", "x6", "x4", "x5", "x6", 3 * HOUR),
    ]


def test_table_4b_values_of_the_book() -> None:
    assert values(FIRST) == {
        (2, "Danny Ayers"),
        (3, "Andrew Watt"),
        (4, "Beginning RSS and Atom Programming"),
        (5, "Scripting & Programming"),
        (6, "Web Site Development"),
    }


def test_table_4c_edges_of_the_book() -> None:
    assert edges(FIRST) == {
        ("x1", "x2", 0, 2),
        ("x1", "x2", 0, 3),
        ("x1", "x3", 0, 4),
        ("x1", "x7", 0, 5),
        ("x1", "x7", 0, 6),
    }


def test_table_4d_values_of_the_blog_article() -> None:
    assert values(SECOND) == {
        (2, "Danny Ayers"),
        (3, "Beginning RSS and Atom Programming"),
        (4, "Book Announcement"),
        (5, "Scripting & Programming"),
    }


def test_table_4e_edges_of_the_blog_article() -> None:
    assert edges(SECOND) == {
        ("x4", "x5", 0, 2),
        ("x4", "x6", 0, 3),
        ("x4", "x8", 0, 4),
        ("x4", "x8", 0, 5),
    }


def test_table_4f_the_bindings_that_join() -> None:
    found = {}
    for query, text in QUERIES.items():
        everything = text.split("FOLLOWED BY")[0] + text.split("}")[1]
        names = [part.split("]")[0].split("[")[0] for part in everything.split("->")[1:]]
        selected = compile_join(xscl(f"SELECT {', '.join(map(str.strip, names))} FROM {text}"))
        for kept in evaluate_rows(selected, [FIRST, SECOND]):
            found[query] = (kept.documents[0], *map(number_of, kept.nodes))
    assert found == {"Q1": ("d1", 0, 2, 4, 0, 2, 3), "Q2": ("d1", 0, 2, 5, 0, 2, 5)}


def number_of(node: Node) -> int:
    return number(D1 if node in D1.nodes else D2, node)


def test_both_queries_give_the_same_event() -> None:
    found = {q: evaluate_rows(compiled, [FIRST, SECOND]) for q, compiled in COMPILED.items()}
    assert found["Q1"] == found["Q2"]
    assert [tuple(map(number_of, kept.nodes)) for kept in found["Q1"]] == [(0, 0)]
    assert found["Q3"] == set()


def test_cross_postings_share_one_set_of_variables() -> None:
    row = COMPILED["Q3"].rows[0]
    assert row.left.variables == row.right.variables
    again = Arrival("d3", parse(D2.source), 2.0, "S")
    assert [kept.documents for kept in evaluate_rows(COMPILED["Q3"], [SECOND, again])] == [
        ("d2", "d3")
    ]
