"""XML Schemas become element graphs."""

from pathlib import Path

import pytest

from penstock.errors import SchemaError
from penstock.limits import Limits
from penstock.schemas import Name, Schema, schema

OPEN = (
    "<xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:o' "
    "xmlns='urn:o' elementFormDefault='qualified'>"
)


def read(folder: Path, body: str, name: str = "one.xsd", **options: object) -> Schema:
    """Return the graph of a schema."""
    path = folder / name
    path.write_text(f"{OPEN}{body}</xs:schema>", "utf-8")
    return schema(path, **options)  # type: ignore[arg-type]


def described(found: Schema, local: str) -> str:
    """Return the children of an element with their occurrences, as text."""
    children = found.elements[Name("urn:o", local)].children
    return " ".join(f"{child.local}{occurs}" for child, occurs in sorted(children.items()))


def element(name: str, content: str) -> str:
    """Return a global element with a complex type."""
    return f"<xs:element name='{name}'><xs:complexType>{content}</xs:complexType></xs:element>"


def test_children_text_and_attributes_are_known(tmp_path: Path) -> None:
    content = (
        "<xs:sequence><xs:element name='b' type='xs:string'/>"
        "<xs:element name='c' minOccurs='0' type='xs:int'/>"
        "<xs:choice maxOccurs='3'><xs:element name='d' type='xs:int'/>"
        "<xs:element name='e' type='xs:int' minOccurs='2' maxOccurs='2'/></xs:choice>"
        "</xs:sequence><xs:attribute name='x' use='required'/><xs:attribute name='y'/>"
    )
    found = read(tmp_path, element("a", content))
    assert described(found, "a") == "b1 c? d* e*"
    assert found.elements[Name("urn:o", "b")].has_text
    assert not found.elements[Name("urn:o", "a")].has_text
    assert found.elements[Name("urn:o", "a")].attributes == {
        Name("", "x"): True,
        Name("", "y"): False,
    }
    assert found.roots == {Name("urn:o", "a")}
    assert not found.has_open


def test_one_name_with_two_types_has_the_children_of_both(tmp_path: Path) -> None:
    v = "<xs:element name='v' type='xs:int'/>"
    w = "<xs:element name='w' type='xs:int'/>"
    one = element("i", f"<xs:sequence>{v}</xs:sequence>")
    two = element("i", f"<xs:sequence>{v}{v}{w}</xs:sequence>")
    inner = [f"<xs:sequence>{kind}</xs:sequence>" for kind in (one, two)]
    outer = element("l", inner[0]) + element("m", inner[1])
    body = element("a", f"<xs:sequence>{outer}</xs:sequence>")
    assert described(read(tmp_path, body), "i") == "v+ w?"


def test_substitutes_and_derived_types_are_possible(tmp_path: Path) -> None:
    body = (
        "<xs:complexType name='T'><xs:sequence><xs:element name='v' type='xs:int'/></xs:sequence>"
        "</xs:complexType><xs:complexType name='U'><xs:complexContent><xs:extension base='T'>"
        "<xs:sequence><xs:element name='w' type='xs:int'/></xs:sequence></xs:extension>"
        "</xs:complexContent></xs:complexType><xs:element name='h' type='T'/>"
        "<xs:element name='k' type='T' substitutionGroup='h'/>"
        + element("a", "<xs:sequence><xs:element ref='h'/></xs:sequence>")
    )
    found = read(tmp_path, body)
    assert described(found, "a") == "h? k?"
    assert described(found, "h") == "v1 w?"


@pytest.mark.parametrize(
    "content",
    [
        "<xs:sequence><xs:any processContents='lax'/></xs:sequence>",
        "<xs:sequence><xs:choice><xs:any namespace='##other'/></xs:choice></xs:sequence>",
    ],
)
def test_wildcards_make_an_element_open(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, element("a", content)).elements[Name("urn:o", "a")].is_open


def test_an_element_without_a_type_is_open(tmp_path: Path) -> None:
    assert read(tmp_path, "<xs:element name='a'/>").has_open


def test_recursion_is_seen(tmp_path: Path) -> None:
    body = element("a", "<xs:sequence><xs:element ref='a' minOccurs='0'/></xs:sequence>")
    assert read(tmp_path, body).recursive == {Name("urn:o", "a")}


def test_included_files_of_the_same_folder_are_read(tmp_path: Path) -> None:
    read(tmp_path, "<xs:element name='b' type='xs:int'/>", "two.xsd")
    body = "<xs:include schemaLocation='two.xsd'/>" + element(
        "a", "<xs:sequence><xs:element ref='b'/></xs:sequence>"
    )
    assert described(read(tmp_path, body), "a") == "b1"
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    assert read(tmp_path, body, limits=Limits(doctype_bytes_max=size))
    with pytest.raises(SchemaError) as caught:
        read(tmp_path, body, limits=Limits(doctype_bytes_max=size - 1))
    assert caught.value.code == "PM0003"


@pytest.mark.parametrize(
    "location", ["http://localhost:9/two.xsd", "../two.xsd", "missing.xsd", "/etc/hostname"]
)
def test_files_elsewhere_are_refused(tmp_path: Path, location: str) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    read(tmp_path, "<xs:element name='b' type='xs:int'/>", "two.xsd")
    with pytest.raises(SchemaError) as caught:
        read(inner, f"<xs:include schemaLocation='{location}'/><xs:element name='a'/>")
    assert caught.value.code == "PM0002"
    assert "own folder" in caught.value.help


@pytest.mark.parametrize(
    "text",
    [
        "<a/>",
        "<a",
        "<!DOCTYPE x [<!ENTITY e 'x'>]><xs:schema xmlns:xs='http://www.w3.org/2001/XMLSchema'/>",
        f"{OPEN}<xs:element name='a' type='nothing'/></xs:schema>",
    ],
)
def test_what_is_no_schema_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "one.xsd"
    path.write_text(text)
    with pytest.raises(SchemaError) as caught:
        schema(path)
    assert caught.value.code == "PM0002"
