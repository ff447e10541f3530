"""DTDs become element graphs."""

from pathlib import Path
from random import Random

import pytest
from lxml import etree

from penstock.errors import SchemaError
from penstock.schemas import Name, Schema, schema
from penstock_testing.generate.schemas import random_dtd, random_valid_document


def read(folder: Path, text: str, **options: object) -> Schema:
    """Return the graph of a DTD."""
    path = folder / "one.dtd"
    path.write_text(text, "utf-8")
    return schema(path, **options)  # type: ignore[arg-type]


def described(found: Schema, name: str) -> str:
    """Return the children of an element with their occurrences, as text."""
    children = found.elements[Name("", name)].children
    return " ".join(f"{child.local}{occurs}" for child, occurs in sorted(children.items()))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("(b, c?, d*, e+)", "b1 c? d* e+"),
        ("(b | c)", "b? c?"),
        ("(b | c)*", "b* c*"),
        ("(b, b)", "b+"),
        ("(b, (c | b))", "b+ c?"),
        ("((b, c) | (b, d))", "b1 c? d?"),
        ("(b?, b?)", "b*"),
        ("((b, c?)+)", "b+ c*"),
        ("(#PCDATA | b | c)*", "b* c*"),
        ("(#PCDATA)", ""),
        ("EMPTY", ""),
    ],
)
def test_children_have_the_occurrences_of_the_content_model(
    tmp_path: Path, model: str, expected: str
) -> None:
    leaves = "".join(f"<!ELEMENT {name} EMPTY>" for name in "bcde")
    assert described(read(tmp_path, f"<!ELEMENT a {model}>{leaves}"), "a") == expected


def test_text_attributes_and_open_elements_are_known(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        "<!ELEMENT a (b, c)><!ATTLIST a x CDATA #REQUIRED y CDATA #IMPLIED>"
        "<!ELEMENT b (#PCDATA)><!ELEMENT c ANY>",
    )
    a, b, c = (found.elements[Name("", name)] for name in "abc")
    assert a.attributes == {Name("", "x"): True, Name("", "y"): False}
    assert (a.has_text, b.has_text, c.has_text) == (False, True, True)
    assert (a.is_open, b.is_open, c.is_open) == (False, False, True)
    assert found.has_open


def test_roots_are_the_elements_that_no_other_contains(tmp_path: Path) -> None:
    text = "<!ELEMENT a (b)*><!ELEMENT b (b | c)*><!ELEMENT c EMPTY>"
    assert read(tmp_path, text).roots == {Name("", "a")}
    assert read(tmp_path, text, root="c").roots == {Name("", "c")}
    circle = "<!ELEMENT a (b)*><!ELEMENT b (a)*>"
    assert read(tmp_path, circle).roots == {Name("", "a"), Name("", "b")}


def test_prefixes_and_declared_namespaces_leave_the_namespace_open(tmp_path: Path) -> None:
    prefixed = read(tmp_path, "<!ELEMENT p:a (p:b)><!ELEMENT p:b EMPTY>")
    assert {*prefixed.elements} == {Name(None, "a"), Name(None, "b")}
    declared = read(tmp_path, "<!ELEMENT a (b)><!ATTLIST a xmlns CDATA #FIXED 'u'><!ELEMENT b ANY>")
    assert {*declared.elements} == {Name(None, "a"), Name(None, "b")}
    assert declared.elements[Name(None, "a")].attributes == {}


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("<!ELEMENT a (b>", "PM0002", 1),
        ("no declaration", "PM0002", 1),
        ("", "PM0002", 0),
        ("\n<!ENTITY % more SYSTEM 'http://localhost/more.dtd'>%more;", "PM0004", 2),
        ("<!ENTITY % more PUBLIC 'x' 'more.dtd'>%more;<!ELEMENT a EMPTY>", "PM0004", 1),
    ],
)
def test_bad_files_are_refused_with_their_place(
    tmp_path: Path, text: str, code: str, line: int
) -> None:
    with pytest.raises(SchemaError) as caught:
        read(tmp_path, text)
    assert (caught.value.code, caught.value.line) == (code, line)
    assert caught.value.path.endswith("one.dtd")


def test_an_external_entity_in_a_comment_is_none(tmp_path: Path) -> None:
    text = "<!-- <!ENTITY % a SYSTEM 'b'> --><!ELEMENT a EMPTY>"
    assert len(read(tmp_path, text).elements) == 1


def test_entities_that_expand_without_end_are_refused(tmp_path: Path) -> None:
    levels = "".join(f"<!ENTITY % e{n + 1} '{f'&#37;e{n};' * 10}'>" for n in range(9))
    text = f"<!ENTITY % e0 '<!ELEMENT a EMPTY>'>{levels}%e9;"
    with pytest.raises(SchemaError):
        read(tmp_path, text)


@pytest.mark.parametrize("seed", range(60))
def test_valid_documents_fit_the_graph(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    dtd = random_dtd(random)
    found = read(tmp_path, str(dtd), root="r")
    for _ in range(5):
        declared = etree.DTD(str(tmp_path / "one.dtd"))
        tree = etree.fromstring(random_valid_document(random, dtd))
        is_valid = declared.validate(tree)
        # lxml does not validate with content models that need to look ahead.
        assert is_valid or "not deterministic" in str(declared.error_log)
        for element in tree.iter():
            known = found.elements[Name("", element.tag)]
            counts = dict.fromkeys(known.children, 0)
            for child in element:
                name = Name("", child.tag)
                assert name in counts or known.is_open
                counts[name] = counts.get(name, 0) + 1
            for name, occurs in known.children.items():
                assert counts[name] <= 1 or not occurs.is_single
                assert counts[name] >= 1 or not occurs.is_required
