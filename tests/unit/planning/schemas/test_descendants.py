"""Superfluous ``//`` are written out, and no others."""

from pathlib import Path

import pytest

import penstock
from benchmarks.broker.documents import documents
from benchmarks.broker.dtds import BIB, BOOK, Dtd, Steps
from benchmarks.broker.queries import BINDING_DEPTHS, QueryParameters, path_text, unique_queries
from penstock.planning.normalise import normalise
from penstock.planning.schemas.programs import compile_for, rewrite_for
from penstock.twigs.printing import print_query

BIB_SCHEMA = penstock.schema(BIB.path)
BOOK_SCHEMA = penstock.schema(BOOK.path)


@pytest.mark.parametrize(
    ("schema", "text", "same"),
    [
        (BIB_SCHEMA, "//affiliation", "/bib/book/editor/affiliation"),
        (BIB_SCHEMA, "//book//price", "/bib/book/price"),
        (BIB_SCHEMA, "//author//last", "/bib/book/author/last"),
        (BIB_SCHEMA, "//book[.//affiliation = 'x']/@year", None),
        (BIB_SCHEMA, "//last", "//last"),
        (BIB_SCHEMA, "//*[.//price]", "//*[.//price]"),
        (BOOK_SCHEMA, "//figure//image", "//figure/image"),
        (BOOK_SCHEMA, "//section//title", "//section//title"),
        (BOOK_SCHEMA, "//book//author", "/book/author"),
    ],
)
def test_one_way_down_is_written_out(schema: penstock.Schema, text: str, same: str | None) -> None:
    same = same or "/bib/book[editor/affiliation = 'x']/@year"
    rewritten = rewrite_for(penstock.xpath(text), schema).query
    expected = rewrite_for(penstock.xpath(same), schema.with_mode("off")).query
    assert print_query(normalise(rewritten)) == print_query(normalise(expected))


@pytest.mark.parametrize("dtd", [BIB, BOOK], ids=lambda dtd: dtd.name)
def test_the_workload_rewrites_the_same_paths(dtd: Dtd) -> None:
    schema = penstock.schema(dtd.path)
    parameters = QueryParameters(BINDING_DEPTHS[dtd.name], descendant=0.6)
    paths: set[Steps] = {query.binding for query in unique_queries(dtd, parameters, 300)}
    for steps in paths:
        rewritten = rewrite_for(penstock.xpath(path_text("", steps)), schema).query
        expected = penstock.xpath(path_text("", dtd.rewrite(None, steps)))
        as_is = rewrite_for(expected, schema).query
        assert normalise(rewritten) == normalise(as_is)
    assert len(paths) >= 5


def test_queries_of_one_plan_become_one_program() -> None:
    texts = ("//book//price", "/bib//price", "//price", "/bib/book/price")
    programs = {compile_for(penstock.xpath(text), "query", BIB_SCHEMA)[0] for text in texts}
    assert len(programs - {None}) == 1


def test_positions_behind_descendants_keep_their_meaning() -> None:
    trusted = BIB_SCHEMA.with_mode("trust")
    texts = ("//author[2]/last", "/descendant::author[2]", "//book[3]//last[1]", "(//price)[4]")
    registry = penstock.Registry()
    for text in texts:
        registry.add(text, text)
    for document in documents(BIB, 10):
        plain = [*penstock.Engine(registry).run(document, order="document")]
        engine = penstock.Engine(registry, schemas={"default": trusted})
        under = [*engine.run(document, order="document")]
        assert [(row.subscription, row.start) for row in plain] == [
            (row.subscription, row.start) for row in under
        ]


def test_names_in_namespaces_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.xsd"
    path.write_text(
        "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:a' "
        "elementFormDefault='qualified'><xs:element name='a'><xs:complexType><xs:sequence>"
        "<xs:element name='b' type='xs:int'/></xs:sequence></xs:complexType></xs:element>"
        "</xs:schema>"
    )
    schema = penstock.schema(path)
    inside = rewrite_for(penstock.xpath("//p:b", namespaces={"p": "urn:a"}), schema)
    assert "child::{urn:a}a" in print_query(inside.query)
    for other in ({"p": "urn:b"}, {"p": "*"}):
        query = penstock.xpath("//p:b", namespaces=other)
        assert rewrite_for(query, schema).query is query
