"""The broker's workload has the sizes of the paper, and queries that differ in their plans."""

import re
from io import StringIO
from itertools import islice

import pytest
from lxml import etree

import penstock
from benchmarks.broker.documents import DocumentParameters, documents
from benchmarks.broker.dtds import BIB, BOOK, Dtd, dtd_of
from benchmarks.broker.queries import (
    BINDING_DEPTHS,
    QueryParameters,
    unique_plans,
    unique_queries,
)

DTDS = [BIB, BOOK]


def drawn(dtd: Dtd, **changes: object) -> QueryParameters:
    """Return the paper's parameters with some changed."""
    return QueryParameters(BINDING_DEPTHS[dtd.name], **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("dtd", DTDS, ids=lambda dtd: dtd.name)
def test_documents_are_valid(dtd: Dtd) -> None:
    declared = etree.DTD(StringIO(dtd.path.read_text("utf-8")))
    for text in documents(dtd, 50):
        assert declared.validate(etree.fromstring(text)), declared.error_log


@pytest.mark.parametrize(("dtd", "average"), [(BIB, 149), (BOOK, 83)], ids=["bib", "book"])
def test_documents_have_as_many_elements_as_in_the_paper(dtd: Dtd, average: int) -> None:
    counts = [len(list(etree.fromstring(text).iter())) for text in documents(dtd, 1000)]
    assert abs(sum(counts) / len(counts) - average) < 0.06 * average


def test_books_nest_as_deep_as_asked_for_and_bibliographies_do_not() -> None:
    for depth_max in (2, 5):
        parameters = DocumentParameters(depth_max=depth_max)
        trees = [etree.fromstring(text) for text in documents(BOOK, 100, parameters)]
        depths = [
            len(list(one.iterancestors())) + 1 for tree in trees for one in tree.iter("section")
        ]
        assert max(depths) == depth_max
    assert {
        len(list(one.iterancestors()))
        for one in etree.fromstring(next(documents(BIB))).iter("first")
    } == {3}


def test_repeats_and_values_stay_in_their_bounds() -> None:
    parameters = DocumentParameters(repeats_max={("bib", "book"): 3}, values=4)
    trees = [etree.fromstring(text) for text in documents(BIB, 100, parameters)]
    assert {len(tree) for tree in trees} == {1, 2, 3}
    assert {one.text for tree in trees for one in tree.iter("title")} == set("0123")
    assert {one.get("year") for tree in trees for one in tree} == set("0123")


def test_document_and_query_numbers_do_not_depend_on_the_count() -> None:
    assert list(documents(BOOK, 5)) == list(islice(documents(BOOK, 50), 5))
    parameters = drawn(BOOK)
    assert list(unique_plans(BOOK, parameters, 20)) == list(
        islice(unique_plans(BOOK, parameters, 500), 20)
    )


@pytest.mark.parametrize("dtd", DTDS, ids=lambda dtd: dtd.name)
def test_plans_are_unique_and_queries_are_fewer_plans(dtd: Dtd) -> None:
    queries = list(unique_plans(dtd, drawn(dtd), 2000))
    assert len({query.plan(dtd) for query in queries}) == len({q.text() for q in queries}) == 2000
    written = list(unique_queries(dtd, drawn(dtd), 2000))
    assert len({query.text() for query in written}) == 2000
    assert 1000 < len({query.plan(dtd) for query in written}) < 2000


@pytest.mark.parametrize("dtd", DTDS, ids=lambda dtd: dtd.name)
def test_queries_keep_to_their_parameters(dtd: Dtd) -> None:
    parameters = drawn(
        dtd, predicates=2, returns=3, descendant=0.4, values=7, operators=("=", "<=")
    )
    queries = list(unique_plans(dtd, parameters, 1000))
    assert {query.bound for query in queries} == dtd.bound
    assert {len(query.comparisons) for query in queries} == {2}
    assert max(len(query.returns) for query in queries) == 3
    assert {len(query.returns) for query in queries if query.bound != "p"} == {3}
    assert max(len(query.binding) for query in queries) == parameters.binding_depth_max
    relative = [one.steps for query in queries for one in query.comparisons]
    relative += [steps for query in queries for steps in query.returns]
    assert {len(steps) for steps in relative} == {0, 1, 2}
    deep = [is_deep for steps in relative for is_deep, _ in steps]
    assert 0.2 < sum(deep) / len(deep) < 0.6
    assert {one.constant for query in queries for one in query.comparisons} == set(range(7))


def test_without_descendant_steps_there_are_none() -> None:
    assert not any(
        "//" in query.text() for query in unique_plans(BOOK, drawn(BOOK, descendant=0), 500)
    )


def test_too_many_plans_are_refused() -> None:
    few = drawn(BIB, returns=1, values=1, depth_max=1)
    with pytest.raises(ValueError, match="no more than about"):
        list(unique_plans(BIB, few, 1000))
    with pytest.raises(ValueError, match="no document type"):
        dtd_of("html")


def test_a_chain_is_the_only_way_down() -> None:
    assert BIB.chain(None, "last") is None  # through authors and through editors
    assert BIB.chain(None, "affiliation") == ("bib", "book", "editor", "affiliation")
    assert BOOK.chain("figure", "image") == ("image",)
    assert BOOK.chain(None, "section") is None  # sections nest
    assert BOOK.chain(None, "author") == ("book", "author")
    steps = ((True, "book"), (True, "section"), (False, "figure"), (True, "image"))
    assert BOOK.rewrite(None, steps) == (
        (False, "book"),
        (True, "section"),
        (False, "figure"),
        (False, "image"),
    )


@pytest.mark.parametrize("dtd", DTDS, ids=lambda dtd: dtd.name)
def test_a_plan_gives_the_messages_of_its_query(dtd: Dtd) -> None:
    registry = penstock.Registry()
    parameters = drawn(dtd, descendant=0.4, operators=("=", "<="))
    for number, query in enumerate(unique_queries(dtd, parameters, 150)):
        registry.add(f"{number} query", penstock.xquery(query.text()))
        registry.add(f"{number} plan", penstock.xquery(query.plan(dtd).text()))
    found: dict[str, dict[str, list[tuple[str, str | None]]]] = {}
    for row in penstock.Engine(registry).run(penstock.Document(d) for d in documents(dtd, 6)):
        number, kind = row.subscription.split()
        text = re.sub(r"\s", "", row.value or "")
        found.setdefault(number, {}).setdefault(kind, []).append((row.document, text))
    assert len(found) > 30
    for number, answers in found.items():
        # Two return paths may change places.
        kinds = [sorted((d, sorted(t)) for d, t in answers[k]) for k in ("query", "plan")]
        assert kinds[0] == kinds[1], number
