"""Whatever looks forward finds what looking back finds."""

from random import Random

from penstock.languages.xpath import xpath
from penstock.planning.normalise import normalise
from penstock.twigs import Selection
from penstock.twigs.queries import as_expression
from penstock_testing.generate import NAMESPACES, DocumentKnobs, random_document
from penstock_testing.kleene import earliest
from penstock_testing.tree import parse
from tests.unit.languages.xpath.forward.looking import assert_kept, forward_paths, random_texts


def test_results_of_random_expressions_are_kept() -> None:
    assert_kept(*random_texts(seed=11, count=150))


def test_what_looks_forward_is_decided_no_later() -> None:
    random = Random(13)
    nodes = 0
    for text in random_texts(seed=12, count=150):
        query = xpath(text, namespaces=NAMESPACES)
        normal = normalise(query)
        if not query.selects_nodes or isinstance(normal.output, Selection):
            continue
        tree = parse(random_document(random, DocumentKnobs(nodes_max=14)))
        forward, back = earliest(normal, tree), earliest(as_expression(query), tree)
        assert forward.keys() == back.keys()
        assert all(forward[node] <= back[node] for node in forward), (text, tree.source)
        nodes += len(forward)
    assert nodes > 30


def test_reverse_axes_of_long_paths_become_few_twigs() -> None:
    """The queries of Peng's thesis, section 7.4, that go back."""
    steps = ["parlist", "description", "item", "regions", "site"]
    for count in range(2, len(steps) + 1):
        above = [*steps[: count - 1], "site"]
        text = "//listitem" + "".join(f"/ancestor::{name}" for name in above) + "//text"
        assert len(forward_paths(text)) == 1
    assert forward_paths("//name[parent::item/parent::samerica/parent::regions/parent::site]") == [
        "/descendant::site/child::regions/child::samerica/child::item/child::name"
    ]
    assert forward_paths("//name[ancestor::item/ancestor::regions]") == [
        "/descendant::regions/descendant::item/descendant::name"
    ]
    assert len(
        forward_paths("//item[quantity=1 and .//listitem[ancestor::regions/samerica]]/name")
    ) == 2  # fmt: skip
    assert forward_paths(
        "//listitem[ancestor::item[.//price>10 or .//quantity=1]"
        " or ancestor::annotation[happiness>8]]"
    ) == [
        "/descendant::annotation[child::happiness[number(string(.)) > 8]]/descendant::listitem",
        "/descendant::item[descendant::price[number(string(.)) > 10]"
        " or descendant::quantity[number(string(.)) = 1]]/descendant::listitem",
    ]
