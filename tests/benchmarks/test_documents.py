"""Generated documents are valid, keep to their parameters and are the same everywhere."""

from dataclasses import replace
from hashlib import sha256
from io import StringIO

import pytest
from lxml import etree

from benchmarks.workloads.documents import DocumentParameters, documents
from benchmarks.workloads.dtd import FOLDER, Schema, load_schema
from benchmarks.workloads.sets import SCHEMAS, Workload
from benchmarks.workloads.xmark import Auction


def validator(name: str) -> etree.DTD:
    return etree.DTD(StringIO((FOLDER / f"{name}.dtd").read_text("utf-8")))


def depth(root: etree._Element) -> int:
    return max(sum(1 for _ in element.iterancestors()) + 1 for element in root.iter())


@pytest.mark.parametrize("name", SCHEMAS)
def test_documents_are_valid(name: str) -> None:
    dtd = validator(name)
    for document in Workload(name, "twig", "unselective").documents(20):
        assert dtd.validate(etree.fromstring(document)), dtd.error_log.last_error


def test_the_auction_documents_of_xmark_are_valid() -> None:
    document = b"".join(Auction(0.002)).replace(b' standalone="yes"', b"")
    dtd = validator("auction")
    assert dtd.validate(etree.fromstring(document)), dtd.error_log.last_error


def test_documents_are_the_same_on_every_machine() -> None:
    # Raise VERSION in `sets` when this changes: written files carry it in their names.
    joined = b"".join(Workload("nitf", "path", "unselective").documents(5))
    assert sha256(joined).hexdigest()[:16] == "a4e05f152185408c"


def test_a_document_does_not_depend_on_how_many_are_asked_for() -> None:
    workload = Workload("book", "path", "unselective")
    assert list(workload.documents(5))[:2] == list(workload.documents(2))


def test_depth_repeats_and_values_are_bounded() -> None:
    schema = load_schema("nitf")
    parameters = DocumentParameters(depth_max=6, repeats_max=2, values_max=3)
    for document in documents(schema, parameters, 30):
        root = etree.fromstring(document)
        assert depth(root) <= 6
        assert len(root.findall("head/meta")) <= 2
        assert len(root.findall("body/body-content")) <= 2
        assert {element.get("id") for element in root.iter("block")} <= {None, "0", "1", "2"}


def test_the_number_of_elements_stays_between_its_bounds() -> None:
    schema = load_schema("nitf")
    parameters = DocumentParameters(depth_max=12, elements_min=40, elements_max=60)
    counts = [len(list(etree.fromstring(d).iter())) for d in documents(schema, parameters, 30)]
    assert min(counts) >= 40
    # What was begun must be ended: a few elements more.
    assert max(counts) <= 90


def test_a_document_type_that_leaves_no_choice_may_pass_the_depth() -> None:
    schema = Schema("deep", "<!ELEMENT a (b)><!ELEMENT b (c)><!ELEMENT c EMPTY>")
    (document,) = documents(schema, DocumentParameters(depth_max=1), 1)
    assert b"<a><b><c/></b></a>" in document


def test_a_minimum_above_the_maximum_is_refused() -> None:
    parameters = replace(DocumentParameters(), elements_min=10, elements_max=9)
    with pytest.raises(ValueError, match="elements_min"):
        next(documents(load_schema("bib"), parameters, 1))


def test_news_documents_are_like_those_of_the_studies() -> None:
    roots = [etree.fromstring(d) for d in Workload("nitf", "path", "unselective").documents(100)]
    paths = [
        len({element.getroottree().getelementpath(element) for element in root.iter()})
        for root in roots
    ]
    labels = [
        len({tuple(e.tag for e in (element, *element.iterancestors())) for element in root.iter()})
        for root in roots
    ]
    assert 130 <= sum(paths) / 100 <= 190
    assert 90 <= sum(labels) / 100 <= 125
    assert max(map(depth, roots)) == 12
