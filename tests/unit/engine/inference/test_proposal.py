"""A table proposed from samples: its record, its columns, and what stands around records."""

from pathlib import Path

import pytest

import penstock
from penstock.engine.inference import Proposal, infer, infer_schema
from penstock.errors import SettingError
from penstock.sources import inputs
from penstock.twigs.tables import Table

SHOP = """<shop city="Ulm"><name>Quay</name>
<book id="1"><title>Rivers</title><price currency="EUR">9.50</price><tag k="a" v="1"/>
  <tag k="b" v="02"/></book>
<book id="2"><title>Dams <i>and</i> gates</title><price currency="EUR"/><author>A</author>
  <author>B</author><note/></book>
</shop>"""


def proposed(*documents: str, record: str | None = None) -> Proposal:
    return infer(lambda: inputs(list(map(penstock.Document, documents))), record=record)


def rows(proposal: Proposal, document: str) -> list[dict[str, object]]:
    registry = penstock.Registry()
    registry.add("t", proposal.table())
    return penstock.Engine(registry).table(document).to_pylist()


def columns(proposal: Proposal) -> dict[str, str]:
    return {one.name: one.path for one in proposal.columns}


def test_the_record_is_what_repeats_and_its_values_are_columns() -> None:
    found = proposed(SHOP)
    assert found.record == "/shop/book"
    assert columns(found) == {
        "id": "@id",
        "title": "title",
        "price": "price",
        "price_currency": "price/@currency",
        "tag": "tag",
        "author": "author",
        "note": "note",
    }
    first, second = rows(found, SHOP)
    assert (first["id"], str(first["price"]), second["price"]) == (1, "9.50", None)
    assert second["title"] == "Dams and gates"
    assert second["author"] == ["A", "B"]
    assert first["tag"] == [{"k": "a", "v": "1"}, {"k": "b", "v": "02"}]
    assert first["errors"] is None


def test_single_values_around_records_are_offered() -> None:
    found = proposed(SHOP)
    assert {one.name: one.path for one in found.headers} == {
        "shop_city": "../@city",
        "name": "../name",
    }
    assert "  # name: ../name  # 2 values\n" in found.yaml()


def test_headers_never_have_the_name_of_a_column() -> None:
    found = proposed("<s><id>7</id><b><id>1</id><x/></b><b><id>2</id><x/></b></s>")
    assert {one.name for one in found.headers}.isdisjoint(columns(found))


def test_of_nested_records_the_ones_with_the_values_are_taken() -> None:
    entries = "<e><a>1</a><b>2</b></e>" * 3
    found = proposed(f"<d><s><id>1</id>{entries}</s><s><id>2</id>{entries}</s></d>")
    assert found.record == "/d/s/e"


def test_documents_are_records_where_nothing_repeats() -> None:
    found = proposed("<a><x>1</x></a>", "<a><x>2</x><y z='3'/></a>")
    assert (found.record, found.records, found.documents) == ("/a", 2, 2)
    assert proposed("<a><x>1</x></a>").yaml().startswith("# 1 record in 1 document\n")


def test_a_record_can_be_named() -> None:
    found = proposed("<r><p><b><t>1</t></b></p><b><t>2</t></b></r>", record="b")
    assert found.record == "//b"
    assert found.records == 2
    with pytest.raises(SettingError, match="no element is called `nothing`"):
        proposed(SHOP, record="nothing")


def test_namespaces_have_the_prefixes_of_the_documents() -> None:
    book = "<x:book><x:t>1</x:t><y:u>2</y:u></x:book>"
    found = proposed(f"<x:shop xmlns:x='urn:one' xmlns:y='urn:two'>{book}{book}</x:shop>")
    assert found.record == "/shop/book"
    assert found.namespaces == {"": "urn:one", "y": "urn:two"}
    mixed = proposed(f"<shop xmlns:x='urn:one' xmlns:y='urn:two'>{book}{book}</shop>")
    assert mixed.record == "/shop/x:book"


def test_a_document_that_fails_is_known_in_part() -> None:
    found = proposed("<a><b><c>1</c><d/></b><b><c>2</c><d/></b></x>")
    assert found.records == 2
    assert "known in part: PD0007" in found.notes[0]


def test_there_is_a_bound_on_columns() -> None:
    many = "".join(f"<c{number}>1</c{number}>" for number in range(500))
    found = proposed(f"<a><b>{many}</b><b>{many}</b></a>")
    assert len(found.columns) == 300
    assert found.notes == ["200 further names were left out"]


def test_a_schema_gives_types(tmp_path: Path) -> None:
    pytest.importorskip("xmlschema")
    path = tmp_path / "shop.xsd"
    path.write_text("""\
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:s" xmlns="urn:s"
    elementFormDefault="qualified">
  <xs:simpleType name="Money"><xs:restriction base="xs:decimal"><xs:totalDigits value="18"/>
    <xs:fractionDigits value="5"/></xs:restriction></xs:simpleType>
  <xs:element name="shop"><xs:complexType><xs:sequence>
    <xs:element name="made" type="xs:dateTime"/>
    <xs:element name="book" maxOccurs="unbounded"><xs:complexType><xs:sequence>
      <xs:element name="price" type="Money"/><xs:element name="pages" type="xs:int"/>
      <xs:element name="code" type="xs:token" maxOccurs="3"/>
      <xs:element name="sold" type="xs:date"/>
    </xs:sequence><xs:attribute name="new" type="xs:boolean"/></xs:complexType></xs:element>
  </xs:sequence></xs:complexType></xs:element>
</xs:schema>""")
    found = infer_schema(path)
    assert found.record == "/shop/book"
    assert found.namespaces == {"": "urn:s"}
    output = found.table().output
    assert isinstance(output, Table)
    types = {one.name: (str(one.type), one.is_list) for one in output.columns}
    assert types == {
        "new": ("boolean", False),
        "price": ("decimal(18,5)", False),
        "pages": ("integer", False),
        "code": ("string", True),
        "sold": ("date", False),
    }
    assert "  # made: [../made, timestamp]\n" in found.yaml()


def test_attributes_of_values_around_records_are_as_far_away_as_the_values() -> None:
    bal = '<bal><amt c="EUR">1</amt></bal>'
    found = proposed(f"<d><s>{bal}<e><x>1</x></e><e><x>2</x></e></s></d>")
    assert [one.path for one in found.headers] == ["../bal/amt", "../bal/amt/@c"]


def test_a_document_that_cannot_be_read_changes_nothing_but_the_notes() -> None:
    found = proposed(SHOP, "")
    assert (found.record, found.documents) == ("/shop/book", 1)
    assert found.notes == ["1 could not be read: PS0003"]
