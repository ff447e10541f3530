"""The per-event oracle: what is known after each event of small documents."""

from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.twigs import (
    And,
    AtRoot,
    Branch,
    Compare,
    Condition,
    Exists,
    Fragments,
    Not,
    Query,
    Slot,
    StringOf,
    TwigNode,
    Value,
    ValueType,
)
from penstock_testing.kleene import earliest, known_at, needed
from penstock_testing.reference import evaluate
from penstock_testing.tree import Tree, parse
from tests.unit.testing.builders import block, child, descendant, equals, having


def nodes(*spine: TwigNode, constants: tuple[str, ...] = ("v",)) -> Query:
    """Return the query for the last node of a spine."""
    *above, last = spine
    twig = TwigNode(last.axis, last.test, last.where, "y")
    for node in reversed(above):
        twig = TwigNode(node.axis, node.test, node.where, branches=(Branch(twig),))
    return Query((block(twig),), Fragments("y"), constants)


def decided(query: Query, tree: Tree) -> list[tuple[str, int]]:
    """Return (source, offset just past the deciding event) of every result."""
    return [(tree.text(n), tree.events[event].offset) for n, event in earliest(query, tree).items()]


def held(query: Query, tree: Tree) -> list[list[int]]:
    return [sorted(node.start for node in step) for step in needed(query, tree)]


def test_an_unguarded_element_is_decided_at_its_start_tag() -> None:
    tree = parse("<a><b>x</b></a>")
    assert decided(nodes(descendant("b")), tree) == [("<b>x</b>", 6)]
    assert held(nodes(descendant("b")), tree) == [[], [], [], [], [], []]


def test_existence_is_decided_at_the_start_of_the_witness() -> None:
    tree = parse("<a><c/><b>x</b></a>")
    query = nodes(child("a", where=Exists(child("b"))), child("c"))
    assert decided(query, tree) == [("<c/>", 10)]
    assert held(query, tree) == [[], [3], [3], [], [], [], [], []]


def test_an_equality_waits_for_the_end_of_the_compared_element() -> None:
    tree = parse("<a><b>v</b></a>")
    query = nodes(child("a", where=having("b", 0)))
    assert decided(query, tree) == [("<a><b>v</b></a>", 11)]


def test_negation_dies_with_the_first_counterexample_and_holds_at_the_end() -> None:
    query = nodes(child("a", where=Not(Exists(child("b")))))
    assert held(query, parse("<a><c/><b/></a>")) == [[0], [0], [0], [], [], [], []]
    assert decided(query, parse("<a><c/></a>")) == [("<a><c/></a>", 11)]


def test_a_conjunction_with_a_false_part_holds_nothing() -> None:
    query = nodes(child("a", where=And((Exists(child("b")), Not(Exists(child("c")))))))
    assert held(query, parse("<a><c/><d/></a>"))[1:] == [[]] * 6


def test_one_of_several_chains_suffices() -> None:
    tree = parse("<a><a><b/><c/></a></a>")
    query = nodes(descendant("a", where=Exists(child("c"))), descendant("b"))
    assert decided(query, tree) == [("<b/>", 14)]


def test_an_absolute_condition_is_open_until_the_document_ends() -> None:
    tree = parse("<a><b/></a>")
    absolute: Condition = AtRoot(Exists(descendant("z")))
    query = nodes(descendant("b", where=absolute))
    assert held(query, tree) == [[], [3], [3], [3], []]


def test_the_string_of_a_path_is_that_of_its_first_node() -> None:
    first = Compare("=", StringOf(child("b")), Slot(0, ValueType.STRING))
    query = nodes(child("a", where=first))
    assert decided(query, parse("<a><b>v</b><b>w</b></a>")) == [("<a><b>v</b><b>w</b></a>", 11)]
    assert held(query, parse("<a><b>w</b><b>v</b></a>"))[3] == []


def test_a_value_is_known_when_its_condition_is() -> None:
    condition = Exists(descendant("b", where=equals(0)))
    query = Query((block(),), Value(condition, ValueType.BOOLEAN), ("v",))
    tree = parse("<a><b>w</b><b>v</b><b/></a>")
    assert tree.events[known_at(query, tree)].offset == 19
    assert evaluate(query, tree) is True
    tree = parse("<a/>")
    assert known_at(query, tree) == len(tree.events) - 1


def test_a_count_is_a_number_when_it_is_compared_with_a_string() -> None:
    tree = parse("<r><a n='1'/><a n='2'/></r>")
    for text in ("/r/a[position() = @n]", "/r/a[count(preceding-sibling::a) + 1 = @n]"):
        query = normalise(xpath(text))
        assert sorted(node.start for node in earliest(query, tree)) == [3, 13]
