"""Fragments that stand alone: read back without their document, they are the same tree."""

from xml.etree import ElementTree

import pytest

import penstock
from penstock.results.serialization import declare, expand


def only(document: str, query: str, **settings: object) -> penstock.Result:
    found = penstock.evaluate(query, document, **settings)  # type: ignore[arg-type]
    assert isinstance(found, list)
    (row,) = found
    return row


def canonical(xml: str) -> str:
    return ElementTree.canonicalize(xml)


def test_declarations_in_scope_are_added_to_the_start_tag() -> None:
    row = only('<a xmlns="urn:d" xmlns:p="urn:p"><b p:x="1">t</b></a>', "//*[@*]")
    assert row.value == '<b p:x="1">t</b>'
    assert row.xml == '<b xmlns="urn:d" xmlns:p="urn:p" p:x="1">t</b>'
    assert ElementTree.fromstring(row.xml).tag == "{urn:d}b"


def test_a_declaration_of_the_element_itself_hides_the_outer_one() -> None:
    row = only('<a xmlns:p="urn:outer"><b xmlns:p="urn:inner"><p:c/></b></a>', "//b")
    assert row.xml == '<b xmlns:p="urn:inner"><p:c/></b>'


def test_a_default_namespace_that_was_undone_stays_undone() -> None:
    row = only('<a xmlns="urn:d"><b xmlns=""><c/></b></a>', "//c")
    assert ElementTree.fromstring(row.xml).tag == "c"


def test_a_declaration_is_escaped() -> None:
    row = only('<a xmlns:p="urn:&quot;&amp;"><p:b/></a>', "/a/*")
    assert ElementTree.fromstring(row.xml).tag == '{urn:"&}b'


def test_internal_entities_are_expanded_in_content_and_values() -> None:
    declared = "<!DOCTYPE a [<!ENTITY e 'x<c/>&f;'><!ENTITY f '\"q\"'>]>"
    row = only(declared + "<a><b k='&f;'>&e;&amp;&#65;</b></a>", "//b")
    assert row.value == "<b k='&f;'>&e;&amp;&#65;</b>"
    assert canonical(row.xml) == '<b k="&quot;q&quot;">x<c></c>"q"&amp;A</b>'


def test_an_element_from_an_entity_is_found_in_it() -> None:
    document = "<!DOCTYPE a [<!ENTITY e 'x<c><c/>1</c><d/>'>]><a>&e;</a>"
    assert only(document, "/a/c").xml == "<c><c/>1</c>"
    assert only(document, "/a/d").xml == "<d/>"


def test_what_looks_like_a_reference_inside_verbatim_markup_stays() -> None:
    document = "<!DOCTYPE a [<!ENTITY e 'E'>]><a><![CDATA[&e;]]><!--&e;--><?p &e;?>&e;</a>"
    assert only(document, "/a").xml == "<a><![CDATA[&e;]]><!--&e;--><?p &e;?>E</a>"


@pytest.mark.parametrize(
    ("text", "entities"),
    [("]&e;", {"e": "]>"}), ("]]&e;", {"e": ">"}), ("&e;>", {"e": "]]"})],
)
def test_expansion_never_ends_a_section_that_was_never_begun(
    text: str, entities: dict[str, str]
) -> None:
    assert "]]>" not in expand(text, entities)
    assert ElementTree.fromstring(f"<a>{expand(text, entities)}</a>").text == "]]>"


def test_an_entity_that_was_not_read_adds_nothing() -> None:
    assert expand("<a b='&x;'>1&x;2</a>", {}) == "<a b=''>12</a>"


def test_a_greater_than_sign_in_a_value_does_not_end_the_tag() -> None:
    declared = declare("<a b='>' c=\"/>\"><d/></a>", {"p": "u"})
    assert declared == '<a xmlns:p="u" b=\'>\' c="/>"><d/></a>'


def test_a_document_loses_its_xml_declaration_only() -> None:
    document = "<?xml version='1.0' encoding='ISO-8859-1'?>\n<!DOCTYPE a><a>é</a>"
    assert only(document, "/").xml == "<!DOCTYPE a><a>é</a>"


def test_other_nodes_are_written_as_markup_or_escaped() -> None:
    document = "<a x='&lt;1'>&amp;<!--c--><?p?><?q i?></a>"
    assert only(document, "//@x").xml == "&lt;1"
    assert only(document, "//text()").xml == "&amp;"
    assert only(document, "//comment()").xml == "<!--c-->"
    assert only(document, "//processing-instruction('p')").xml == "<?p?>"
    assert only(document, "//processing-instruction('q')").xml == "<?q i?>"
