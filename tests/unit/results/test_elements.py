"""Elements as JSON: one form that loses nothing, and a plain one."""

import json
from random import Random
from typing import Any

import pytest
from lxml import etree

import penstock
from penstock.results.elements import to_jsonml, to_plain, to_text
from penstock_testing.generate import random_document

BOOK = (
    '<b:book xmlns:b="urn:b" id="1"><title>Rivers &amp; <i>dams</i></title>'
    "<author>A</author><!--then--><author>B</author><note/><?go on?>\n</b:book>"
)


def as_xml(element: list[Any] | str) -> str:
    """Return what JsonML says as XML."""
    if isinstance(element, str):
        return element.replace("&", "&amp;").replace("<", "&lt;").replace("\r", "&#13;")
    name, *rest = element
    if name == "#comment":
        return f"<!--{rest[0]}-->"
    if name == "#instruction":
        return f"<?{rest[0]} {rest[1]}?>"
    attributes = rest.pop(0) if rest and isinstance(rest[0], dict) else {}
    written = "".join(f" {key}={_quoted(value)}" for key, value in attributes.items())
    return f"<{name}{written}>{''.join(map(as_xml, rest))}</{name}>"


def _quoted(value: str) -> str:
    for character in '&<"\t\n\r':
        value = (
            value.replace(character, f"&#{ord(character)};")
            if character != "&"
            else (value.replace("&", "&#38;"))
        )
    return f'"{value}"'


def canonical(xml: str) -> bytes:
    return bytes(etree.tostring(etree.fromstring(xml.encode()), method="c14n"))


def test_an_element_has_its_attributes_and_children_in_order() -> None:
    assert to_jsonml(BOOK) == [
        "b:book",
        {"xmlns:b": "urn:b", "id": "1"},
        ["title", "Rivers & ", ["i", "dams"]],
        ["author", "A"],
        ["#comment", "then"],
        ["author", "B"],
        ["note"],
        ["#instruction", "go", "on"],
        "\n",
    ]


def test_the_plain_form_has_names_as_keys() -> None:
    assert to_plain(to_jsonml(BOOK)) == {
        "@id": "1",
        "title": {"i": "dams", "#text": "Rivers & "},
        "author": ["A", "B"],
        "note": "",
    }
    assert to_plain(to_jsonml("<a> x </a>")) == " x "


def test_nothing_is_lost_of_random_elements() -> None:
    random = Random(17)
    count = 0
    for _ in range(150):
        document = random_document(random)
        for row in penstock.evaluate("//*", document):
            assert canonical(as_xml(json.loads(to_text(row.jsonml)))) == canonical(row.xml)
            count += 1
    assert count > 500


@pytest.mark.parametrize(
    "value", [[], {}, "", 'é\n"', None, 1.5, True, [[], {"a": [{}, "x"]}], {"a": {"b": []}, "c": 1}]
)
def test_text_is_what_json_says(value: object) -> None:
    expected = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert to_text(value) == expected


def test_depth_is_no_limit() -> None:
    document = "<a>" * 5000 + "</a>" * 5000
    (row, *_) = penstock.evaluate("/a", document)
    assert to_text(row.jsonml).startswith('["a",["a",')
    assert to_text(row.plain).startswith('{"a":{"a":')


def test_what_is_no_element_is_its_value() -> None:
    (row,) = penstock.evaluate("//@id", BOOK)
    assert (row.jsonml, row.plain) == ("1", "1")
    (document,) = penstock.evaluate("/", f"<!--first-->{BOOK}")
    assert document.jsonml[0] == "b:book"
