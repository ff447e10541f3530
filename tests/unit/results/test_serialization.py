"""Fragments that stand alone: read back without their document, they are the same tree."""

from itertools import pairwise
from xml.etree import ElementTree

import pytest

import penstock
from penstock.kernel import Surroundings, ends_in_cdata


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
    expanded = Surroundings({}, entities).expand(text)
    assert "]]>" not in expanded
    assert ElementTree.fromstring(f"<a>{expanded}</a>").text == "]]>"


def test_an_entity_that_was_not_read_adds_nothing() -> None:
    assert Surroundings({}, {}).expand("<a b='&x;'>1&x;2</a>") == "<a b=''>12</a>"


def test_a_greater_than_sign_in_a_value_does_not_end_the_tag() -> None:
    declared = Surroundings({"p": "u"}, {}).declare(b"<a b='>' c=\"/>\"><d/></a>")
    assert declared == b'<a xmlns:p="u" b=\'>\' c="/>"><d/></a>'


def test_a_value_that_looks_like_a_declaration_is_none() -> None:
    declared = Surroundings({"p": "u"}, {}).declare(b"<a b=' xmlns:p=\"v\"'/>")
    assert declared == b'<a xmlns:p="u" b=\' xmlns:p="v"\'/>'


def test_only_white_space_of_xml_is_normalised_in_values() -> None:
    expanded = Surroundings({}, {"e": "1\t2\u00a03"}).expand("<a b='&e;'/>")
    assert expanded == "<a b='1 2\u00a03'/>"


def test_entities_that_refer_to_each_other_end() -> None:
    around = Surroundings({}, {"a": "1&b;", "b": "2&a;"})
    assert around.expand("&a;").startswith("1212")
    assert around.expand("<x y='&a;'/>").startswith("<x y='1212")


def test_a_section_may_go_on_from_piece_to_piece() -> None:
    pieces = ["<a>&e;<![CDATA[&e;", "&e;", "]]>&e;</a>"]
    first = Surroundings({}, {"e": "E"})
    written, is_in_cdata = [first.serialize("element", "a", pieces[0])], False
    for before, piece in pairwise(pieces):
        is_in_cdata = ends_in_cdata(before, is_in_cdata)
        written.append(first.further(is_in_cdata).serialize("element", "a", piece))
    assert "".join(written) == "<a>E<![CDATA[&e;&e;]]>E</a>"


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
