"""One question to one document."""

import io
import math
import pickle
from pathlib import Path

import pytest

import penstock


def test_nodes_come_in_document_order() -> None:
    found = penstock.evaluate("//b | //a[x]", "<r><a><b/><x/></a><b/></r>")
    assert isinstance(found, list)
    assert [row.name for row in found] == ["a", "b", "b"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [("count(//b)", 2.0), ("string(//b)", "1"), ("//b = 3", False), ("boolean(//b)", True)],
)
def test_values_are_python_values(expression: str, value: object) -> None:
    found = penstock.evaluate(expression, "<a><b>1</b><b>2</b></a>")
    assert found == value
    assert type(found) is type(value)


def test_numbers_include_those_that_are_none() -> None:
    assert penstock.evaluate("1 div 0", "<a/>") == math.inf
    assert penstock.evaluate("-1 div 0", "<a/>") == -math.inf
    found = penstock.evaluate("number(/a)", "<a>x</a>")
    assert isinstance(found, float)
    assert math.isnan(found)


def test_a_document_may_be_text_bytes_a_path_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    path.write_bytes(b"<a>x</a>")
    for document in ("<a>x</a>", b"<a>x</a>", path, io.BytesIO(b"<a>x</a>")):
        assert penstock.evaluate("string(/a)", document) == "x"


def test_namespaces_and_variables_are_bound() -> None:
    document = "<a xmlns='urn:d'><b>1</b><b>2</b></a>"
    found = penstock.evaluate(
        "//p:b[. = $n]", document, namespaces={"p": "urn:d"}, variables={"n": 2}
    )
    assert isinstance(found, list)
    assert [row.value for row in found] == ["<b>2</b>"]
    found = penstock.evaluate("//b", document, namespaces={"": "urn:*"})
    assert isinstance(found, list)
    assert len(found) == 2


def test_an_error_carries_what_was_decided_and_travels() -> None:
    with pytest.raises(penstock.DocumentError) as caught:
        penstock.evaluate("//b", "<a><b>1</b><b>2</b></c>")
    error = pickle.loads(pickle.dumps(caught.value))
    assert [row.value for row in error.results] == ["<b>1</b>", "<b>2</b>"]
    assert (error.code, error.line, error.path) == ("PD0007", 1, "/a")


def test_a_file_that_is_not_there_is_a_document_error(tmp_path: Path) -> None:
    with pytest.raises(penstock.DocumentError) as caught:
        penstock.evaluate("//a", tmp_path / "none.xml")
    text = str(caught.value)
    assert text.startswith("PS0001")
    assert text.endswith("none.xml cannot be read: No such file or directory")


def test_a_bad_query_is_underlined() -> None:
    with pytest.raises(penstock.QueryError) as caught:
        penstock.evaluate("//a[", "<a/>")
    assert "^" in str(caught.value)


def test_a_context_is_where_relative_paths_start() -> None:
    document = "<r><a><b>1</b></a><a><b>2</b></a><b>3</b></r>"

    def values(expression: str, context: str) -> list[str | None]:
        rows = penstock.evaluate(expression, document, context=context)
        assert isinstance(rows, list)
        return [row.value for row in rows]

    assert values("b", "//a") == ["<b>1</b>"]
    assert values("b", "//a[2]") == ["<b>2</b>"]
    assert values("../b", "//a[2]") == ["<b>3</b>"]
    assert values("/r/b", "//a[2]") == ["<b>3</b>"]
    assert values("b", "//none") == []
    assert penstock.evaluate("concat(name(), b)", document, context="//a[2]") == "a2"
    assert penstock.evaluate("concat(name(), b)", document, context="//none") == ""
    assert penstock.evaluate("count(//b)", document, context="//none") == 3


def test_values_beside_a_result_are_those_of_the_first_nodes() -> None:
    select = {
        "id": "../@id",
        "region": "ancestor::region/name",
        "title": "title/text()",
        "next": "following-sibling::item[1]/title",
    }
    document = (
        "<r><region><name>eu<b>1</b></name><g id='7'><item><title>A<b>x</b>y</title></item>"
        "<item/><item><title>C</title></item></g></region><g><item/></g></r>"
    )
    registry = penstock.Registry()
    registry.add("items", penstock.xpath("//item", select=select))
    rows = penstock.Engine(registry).run(document, order="document")
    assert [row.bindings for row in rows] == [
        {"id": "7", "region": "eu1", "title": "A", "next": None},
        {"id": "7", "region": "eu1", "title": None, "next": "C"},
        {"id": "7", "region": "eu1", "title": "C", "next": None},
        {"id": None, "region": None, "title": None, "next": None},
    ]


VERSIONS = (
    "<r xmlns:x='urn:m:2' xmlns:y='urn:n' x:k='0'><x:a><x:b x:k='1'/><y:b/></x:a>"
    "<a xmlns='urn:m:1'><b k='2'/><c/></a><b/></r>"
)


@pytest.mark.parametrize("bound", ["urn:m:*", ["urn:m:1", "urn:m:2"]])
@pytest.mark.parametrize(
    ("expression", "names"),
    [
        ("//m:b", ["{urn:m:2}b", "{urn:m:1}b"]),
        ("//m:b/parent::m:a", ["{urn:m:2}a", "{urn:m:1}a"]),
        ("//m:c/preceding-sibling::m:*", ["{urn:m:1}b"]),
        ("//m:b[1]", ["{urn:m:2}b", "{urn:m:1}b"]),
        ("//m:a/following::m:b", ["{urn:m:1}b"]),
        ("//*[not(ancestor-or-self::m:*)][not(self::r)]", ["b"]),
        ("//@m:k", ["{urn:m:2}k", "{urn:m:2}k"]),
        ("//*[@m:k = preceding::*/@m:k or @m:k = ../../@m:k]", []),
        ("(//m:a | //m:c)[last()]", ["{urn:m:1}c"]),
    ],
)
def test_a_prefix_may_stand_for_several_namespaces(
    bound: object, expression: str, names: list[str]
) -> None:
    rows = penstock.evaluate(expression, VERSIONS, namespaces={"m": bound})  # type: ignore[dict-item]
    assert isinstance(rows, list)
    assert [row.name for row in rows] == names


def test_names_of_nodes_do_not_depend_on_the_prefixes_of_a_query() -> None:
    def ask(expression: str) -> object:
        return penstock.evaluate(expression, VERSIONS, namespaces={"m": "urn:m:*"})

    assert ask("name(//m:b)") == "x:b"
    assert ask("namespace-uri(//m:c/..)") == "urn:m:1"
    assert ask("local-name(//m:c/preceding-sibling::*)") == "b"
    assert ask("count(//m:a/namespace::*)") == 7.0


def test_what_an_expression_keeps_counts_against_the_limit_of_bytes() -> None:
    registry = penstock.Registry()
    registry.add("q", "//a[following::zz]")
    document = b"<r>" + b"<a/>" * 2_000 + b"</r>"
    few, many = (
        list(
            penstock.Engine(registry, limits=penstock.Limits(buffer_bytes_max=bound)).run(document)
        )
        for bound in (20_000, 20_000_000)
    )
    assert [row.error and row.error.code for row in few] == ["PL0007"]
    assert many == []


def test_queries_of_all_kinds_together_lose_nothing_in_document_order() -> None:
    texts = ["//@*", "//b/preceding::c[1]", "//c", "//a[following::b]", "//b[. = /r/c]", "//c/.."]
    document = b"<r x='1'><a y='2'/><c>1</c><b>1</b><c><a/></c><b>2</b></r>"

    def found(*queries: str) -> list[tuple[str | None, int | None]]:
        registry = penstock.Registry()
        for text in queries:
            registry.add(text, text)
        rows = penstock.Engine(registry).run(document, order="document")
        return sorted((row.subscription, row.start) for row in rows)

    assert found(*texts) == sorted(row for text in texts for row in found(text))
    assert len(found(*texts)) == 10
