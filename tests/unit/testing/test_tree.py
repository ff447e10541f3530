"""Trees: nodes, names, byte ranges and events."""

from xml.parsers.expat import ExpatError

import pytest

from penstock.twigs import NodeKind
from penstock_testing.tree import XML, EventKind, Node, Tree, parse


def node(tree: Tree, kind: NodeKind, place: int = 0) -> Node:
    return [n for n in tree.nodes if n.kind is kind][place]


def span(tree: Tree, kind: NodeKind, place: int = 0) -> str:
    return tree.text(node(tree, kind, place))


def test_an_element_reaches_past_its_end_tag() -> None:
    tree = parse("<a> <b x='>'>é</b ><c/></a>")
    assert [tree.text(n) for n in tree.nodes if n.kind is NodeKind.ELEMENT] == [
        "<a> <b x='>'>é</b ><c/></a>",
        "<b x='>'>é</b >",
        "<c/>",
    ]


def test_a_text_node_includes_sections_and_references() -> None:
    tree = parse("<a><![CDATA[x<]]>&amp;y&#33;<b/>z</a>")
    assert span(tree, NodeKind.TEXT) == "<![CDATA[x<]]>&amp;y&#33;"
    assert node(tree, NodeKind.TEXT).value == "x<&y!"
    assert span(tree, NodeKind.TEXT, 1) == "z"


def test_an_empty_section_is_no_text() -> None:
    tree = parse("<a><![CDATA[]]></a>")
    assert tree.root.children[0].children == []


def test_what_an_entity_brings_has_the_range_of_the_outermost_reference() -> None:
    source = "<!DOCTYPE a [<!ENTITY i '<b>1</b>'><!ENTITY o 'x&i;'>]><a>&o;</a>"
    tree = parse(source)
    assert span(tree, NodeKind.ELEMENT, 1) == "&o;"
    assert node(tree, NodeKind.ELEMENT, 1).string_value() == "1"
    assert {e.offset for e in tree.events if e.node.start == source.index("&o;")} == {
        source.index("&o;") + 3
    }


def test_attributes_have_ranges_and_defaults_that_of_the_start_tag() -> None:
    tree = parse("""<!DOCTYPE a [<!ATTLIST a d CDATA "v">]><a x = '1' p:y="2" xmlns:p="u"/>""")
    assert [
        (n.expanded_name, n.value, tree.text(n)) for n in tree.nodes if n.kind is NodeKind.ATTRIBUTE
    ] == [
        ("x", "1", "x = '1'"),
        ("{u}y", "2", 'p:y="2"'),
        ("d", "v", """<a x = '1' p:y="2" xmlns:p="u"/>"""),
    ]


def test_names_keep_prefix_and_namespace() -> None:
    element = parse("<p:a xmlns:p='u'/>").root.children[0]
    assert (element.name, element.local, element.uri) == ("p:a", "a", "u")


def test_comments_and_instructions_of_prolog_and_epilog_belong_to_the_document() -> None:
    tree = parse("<?t d?><!--x--><!DOCTYPE a [<!--no--><?no no?>]><a/><!--y-->")
    assert [n.kind for n in tree.root.children] == [
        NodeKind.INSTRUCTION,
        NodeKind.COMMENT,
        NodeKind.ELEMENT,
        NodeKind.COMMENT,
    ]


def test_events_come_in_document_order_with_the_offset_just_past_them() -> None:
    tree = parse("<a>t<b/><!--c--><?p?>u</a>")
    assert [(e.kind, e.offset) for e in tree.events] == [
        (EventKind.START, 3),
        (EventKind.TEXT, 4),
        (EventKind.START, 8),
        (EventKind.END, 8),
        (EventKind.COMMENT, 16),
        (EventKind.INSTRUCTION, 21),
        (EventKind.TEXT, 22),
        (EventKind.END, 26),
        (EventKind.DOCUMENT_END, 26),
    ]


@pytest.mark.parametrize("encoding", ["iso-8859-1", "utf-16"])
def test_offsets_count_utf8_bytes(encoding: str) -> None:
    tree = parse(f"<?xml version='1.0' encoding='{encoding}'?><a>é</a>".encode(encoding))
    assert span(tree, NodeKind.TEXT) == "é"
    text = node(tree, NodeKind.TEXT)
    assert text.end - text.start == 2


def test_document_order_puts_namespaces_before_attributes_before_children() -> None:
    tree = parse("<a x='1' xmlns:p='u'><b/></a>")
    assert [n.order for n in tree.nodes] == list(range(8))
    assert [n.local for n in tree.nodes] == ["", "a", "p", "xml", "x", "b", "p", "xml"]


def test_namespaces_in_scope_are_nodes_of_every_element() -> None:
    tree = parse("<a xmlns='d' xmlns:p='u'><p:b xmlns='' xmlns:p='v'/></a>")
    outer, inner = (n for n in tree.nodes if n.kind is NodeKind.ELEMENT)
    assert {n.local: n.value for n in outer.namespaces} == {"xml": XML, "": "d", "p": "u"}
    assert {n.local: n.value for n in inner.namespaces} == {"xml": XML, "p": "v"}
    assert {tree.text(n) for n in inner.namespaces} == {"<p:b xmlns='' xmlns:p='v'/>"}


def test_the_first_element_with_a_declared_id_has_it() -> None:
    declared = "<!DOCTYPE a [<!ATTLIST b i ID #IMPLIED k CDATA #IMPLIED>]>"
    tree = parse(f"{declared}<a i='z'><b i=' x ' k='w'/><b i='x'/><b k='y'/></a>")
    assert {word: tree.text(n) for word, n in tree.ids.items()} == {"x": "<b i=' x ' k='w'/>"}


def test_malformed_documents_are_refused() -> None:
    with pytest.raises(ExpatError):
        parse("<a><b></a>")
