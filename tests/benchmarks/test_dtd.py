"""Document types are read as they are written, and what cannot be read is refused."""

import pytest

from benchmarks.workloads.dtd import Schema, load_schema
from benchmarks.workloads.sets import SCHEMAS

SMALL = """
<!-- a list -->
<!ELEMENT list (head?, (item | list)*, (a, b)+)>
<!ATTLIST list id CDATA #REQUIRED kind (x | y) #IMPLIED>
<!ELEMENT head (#PCDATA)>
<!ELEMENT item (#PCDATA | head)*>
<!ELEMENT a EMPTY>
<!ELEMENT b EMPTY>
"""


def test_content_models_keep_order_choice_and_repetition() -> None:
    content = Schema("small", SMALL).elements["list"].content
    assert content is not None
    assert content.kind == "sequence"
    assert [(part.kind, part.occurs) for part in content.parts] == [
        ("name", "?"),
        ("choice", "*"),
        ("sequence", "+"),
    ]
    assert list(content.names()) == ["head", "item", "list", "a", "b"]


def test_fields_are_elements_with_nothing_but_text() -> None:
    elements = Schema("small", SMALL).elements
    assert [name for name, element in elements.items() if element.is_field] == ["head"]
    assert elements["item"].has_text
    assert not elements["a"].has_text


def test_attributes_have_their_values_and_whether_they_must_be_there() -> None:
    first, second = Schema("small", SMALL).elements["list"].attributes
    assert (first.name, first.is_required, first.choices) == ("id", True, ())
    assert (second.name, second.is_required, second.choices) == ("kind", False, ("x", "y"))


def test_heights_say_how_soon_an_element_can_end() -> None:
    assert Schema("small", SMALL).heights == {"list": 2, "head": 1, "item": 1, "a": 1, "b": 1}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_document_type_here_can_be_read(name: str) -> None:
    schema = load_schema(name)
    assert len(schema.elements) > 10
    assert schema.root == next(iter(schema.elements))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<!ELEMENT a (b)>", "not declared"),
        ("<!ELEMENT a (a)>", "can never end"),
        ("<!ELEMENT a (b,c)x>", "no content model"),
        ("<!ENTITY a 'b'>", "no declaration"),
        ("<!ELEMENT a EMPTY><!ATTLIST a b ID #REQUIRED>", "no attribute"),
    ],
)
def test_what_is_not_read_here_is_refused(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Schema("bad", text)
