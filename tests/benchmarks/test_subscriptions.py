"""Generated queries are distinct, keep to their parameters and match as often as they should."""

import re
from hashlib import sha256
from pathlib import Path

import pytest
from lxml import etree

import penstock
from benchmarks.workloads.dtd import load_schema
from benchmarks.workloads.sets import SCHEMAS, SHAPES, Workload, write_queries
from benchmarks.workloads.subscriptions import QueryParameters, queries, templates

NITF = load_schema("nitf")


def share(workload: Workload, count: int, documents: int) -> float:
    """Return the mean share of queries that match a document."""
    asked = [etree.XPath(f"boolean({text})") for text in workload.queries(count)]
    roots = [etree.fromstring(document) for document in workload.documents(documents)]
    return sum(one(root) for one in asked for root in roots) / len(asked) / len(roots)


@pytest.mark.parametrize("kind", ["path", "twig", "template"])
def test_queries_are_distinct(kind: str) -> None:
    texts = list(Workload("nitf", kind, "selective").queries(20_000))
    assert len(set(texts)) == len(texts) == 20_000


@pytest.mark.parametrize("schema", SCHEMAS)
@pytest.mark.parametrize("kind", ["path", "twig", "template"])
def test_queries_are_xpath_that_is_evaluated(schema: str, kind: str) -> None:
    for text in Workload(schema, kind, "selective").queries(100):
        etree.XPath(text)
        penstock.xpath(text)


def test_queries_are_the_same_on_every_machine() -> None:
    # Raise VERSION in `sets` when this changes: written files carry it in their names.
    texts = [
        text
        for kind in ("path", "twig", "template")
        for text in Workload("nitf", kind, "selective").queries(200)
    ]
    assert sha256("\n".join(texts).encode()).hexdigest()[:16] == "7214b7d353529fa3"


def test_a_query_does_not_depend_on_how_many_are_asked_for() -> None:
    workload = Workload("nitf", "twig", "unselective")
    assert list(workload.queries(300))[:50] == list(workload.queries(50))


def test_length_axes_and_wildcards_follow_the_parameters() -> None:
    plain = QueryParameters(length_min=3, length_max=5, wildcard=0, descendant=0)
    for text in queries(NITF, plain, 100):
        assert re.fullmatch(r"(/[\w-]+){3,5}", text)
    only = QueryParameters(length_min=2, length_max=9, wildcard=1, descendant=1, even=1)
    assert set(queries(NITF, only, 8)) == {"//*" * length for length in range(2, 10)}


def test_nested_paths_and_comparisons_are_as_many_as_asked_for() -> None:
    nested = QueryParameters(nested_min=2, nested_max=2, wildcard=0, descendant=0)
    compared = QueryParameters(predicates_min=1, predicates_max=2, operators=("<",))
    for text in queries(NITF, nested, 200):
        # The same nested path drawn twice is written once.
        assert 1 <= text.count("[") <= 2
        assert not re.search(r"[=<>]", text)
    counts = {len(re.findall(r" (?:=|<) ", text)) for text in queries(NITF, compared, 200)}
    assert counts == {1, 2}


def test_values_stay_below_their_bound() -> None:
    parameters = QueryParameters(predicates_min=2, predicates_max=2, values_max=7)
    values = {
        int(v) for text in queries(NITF, parameters, 500) for v in re.findall(r"'(\d+)'", text)
    }
    assert values == set(range(7))


def test_templates_share_their_shapes() -> None:
    texts = list(Workload("nitf", "template", "selective").queries(5000))
    shapes = {re.sub(r"'\d+'", "''", text) for text in texts}
    assert len(shapes) == SHAPES
    assert all(text.count("= '") == 1 for text in texts)


def test_too_many_queries_for_a_small_document_type_are_refused() -> None:
    schema = load_schema("bib")
    with pytest.raises(ValueError, match="no more than about"):
        list(queries(schema, QueryParameters(wildcard=0, descendant=0), 1000))
    with pytest.raises(ValueError, match="no more than about"):
        list(Workload("bib", "path", "unselective").queries(100_000))
    with pytest.raises(ValueError, match="constants"):
        list(templates(schema, QueryParameters(values_max=10), 101, 10))


def test_words_that_name_no_workload_are_refused() -> None:
    for words in (("html", "path", "selective"), ("nitf", "graph", "selective")):
        with pytest.raises(ValueError, match="there is no"):
            Workload(*words)
    with pytest.raises(ValueError, match="is selective"):
        Workload("nitf", "template", "unselective")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_about_a_fifth_of_the_unselective_twigs_match_a_document(schema: str) -> None:
    assert 0.1 <= share(Workload(schema, "twig", "unselective"), 1000, 8) <= 0.3


@pytest.mark.parametrize("schema", SCHEMAS)
def test_at_most_a_thousandth_of_the_selective_twigs_match_a_document(schema: str) -> None:
    assert share(Workload(schema, "twig", "selective"), 1000, 8) <= 0.001


def test_rare_paths_and_templates_match_as_rarely() -> None:
    for kind in ("path", "template"):
        assert 0 < share(Workload("nitf", kind, "selective"), 2000, 10) <= 0.001


def test_a_file_of_queries_is_written_once(tmp_path: Path) -> None:
    path = write_queries(tmp_path, "few", iter(["//a", "//b['\\']"]), 2)
    assert path.read_text("utf-8").splitlines() == [
        '{"name": "q0", "query": "//a"}',
        '{"name": "q1", "query": "//b[\'\\\\\']"}',
    ]
    assert write_queries(tmp_path, "few", iter([]), 2) == path
    assert list(tmp_path.iterdir()) == [path]
