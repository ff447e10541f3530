"""A table is a record path and columns; what is none is rejected with a way out."""

from __future__ import annotations

from typing import Any

import pytest

import penstock
from penstock.languages.tables import read_table
from penstock.planning.programs import compile_program
from penstock.twigs.tables import ColumnType, Table


def columns_of(columns: dict[str, Any]) -> Any:
    output = penstock.table("//a", columns).output
    assert isinstance(output, Table)
    return output.columns


def code_of(record: Any, columns: Any, **options: Any) -> str:
    with pytest.raises(penstock.QueryError) as caught:
        penstock.table(record, columns, **options)
    assert caught.value.help
    return caught.value.code


def test_a_column_is_a_string_unless_a_type_is_given() -> None:
    one, two = columns_of({"one": "b", "two": ("b", "integer")})
    assert (one.type, two.type) == (ColumnType("string"), ColumnType("integer"))


def test_a_list_of_a_type_takes_all_nodes() -> None:
    (column,) = columns_of({"c": ("b", "list[ decimal( 10 , 2 ) ]")})
    assert column.is_list
    assert column.type == ColumnType("decimal", 10, 2)


def test_mappings_are_structs() -> None:
    here, first, listed = columns_of(
        {"here": {"x": "b"}, "first": ("b", {"x": "c"}), "all": ("b", [{"x": "c"}])}
    )
    assert (here.source, here.is_list) == (None, False)
    assert first.source is not None
    assert not first.is_list
    assert listed.is_list
    assert listed.columns[0].name == "x"


def test_the_text_of_a_table_gives_the_same_query() -> None:
    columns = {"a": "@a", "b": ("b", "list[date]"), "c": ("c", [{"d": {"e": "p:e"}}])}
    query = penstock.table("//p:a", columns, namespaces={"p": "urn:p"}, on_error="raise")
    again = read_table(query.text, **query.options)
    assert again == query
    assert compile_program(query.text, "query", "table", query.options) == compile_program(query)


@pytest.mark.parametrize(
    ("record", "columns", "code"),
    [
        ("//a[", {"x": "b"}, "PQ0104"),
        ("count(//a)", {"x": "b"}, "PQ0114"),
        (7, {"x": "b"}, "PQ0701"),
        ("//a", {}, "PQ0701"),
        ("//a", ["b"], "PQ0701"),
        ("//a", {"": "b"}, "PQ0701"),
        ("//a", {1: "b"}, "PQ0701"),
        ("//a", {"x": None}, "PQ0701"),
        ("//a", {"x": ("b", "integer", "c")}, "PQ0701"),
        ("//a", {"x": ("b", [{"y": "c"}, {"z": "c"}])}, "PQ0701"),
        ("//a", {"x": {}}, "PQ0701"),
        ("//a", {"errors": ("b", "integer")}, "PQ0701"),
        ("//a", {"x": ("b", "int")}, "PQ0702"),
        ("//a", {"x": ("b", "decimal")}, "PQ0702"),
        ("//a", {"x": ("b", "decimal(39,2)")}, "PQ0702"),
        ("//a", {"x": ("b", "decimal(2,3)")}, "PQ0702"),
        ("//a", {"x": ("b", "list[list[string]]")}, "PQ0702"),
        ("//a", {"x": ("count(b)", "xml")}, "PQ0114"),
        ("//a", {"x": ("1", {"y": "c"})}, "PQ0114"),
        ("//a", {"x": "namespace::*"}, "PQ0703"),
        ("//a", {"x": "id('k')"}, "PQ0703"),
        ("//a", {"x": "q:b"}, "PQ0111"),
        ("//a", {"x": "$v"}, "PQ0115"),
        ("//a", {"x": "b" + "/b" * 200}, "PQ0105"),
        ("//a", {"x": "not(" * 3000 + "b" + ")" * 3000}, "PQ0105"),
        ("//a", {f"x{n}": "b" for n in range(1001)}, "PQ0701"),
    ],
)
def test_what_is_no_table_is_rejected(record: Any, columns: Any, code: str) -> None:
    assert code_of(record, columns) == code


def test_columns_inside_each_other_have_a_bound() -> None:
    columns: Any = {"x": "b"}
    for _ in range(16):
        columns = {"x": columns}
    penstock.table("//a", columns)
    assert code_of("//a", {"x": columns}) == "PQ0701"


def test_an_unknown_type_suggests_a_known_one() -> None:
    with pytest.raises(penstock.QueryError, match="did you mean integer"):
        penstock.table("//a", {"x": ("b", "integr")})


def test_on_error_has_three_values() -> None:
    assert code_of("//a", {"x": "b"}, on_error="ignore") == "PQ0704"


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"record": "//a"}', '{"record": 1', "[" * 9999])
def test_a_text_that_is_no_table_is_rejected(text: str) -> None:
    with pytest.raises(penstock.QueryError) as caught:
        read_table(text)
    assert caught.value.code == "PQ0705"


def test_a_table_of_strings_has_no_errors() -> None:
    plain = penstock.table("//a", {"x": "b", "y": {"z": ("b", "xml")}}).output
    typed = penstock.table("//a", {"x": {"y": ("b", "list[date]")}}).output
    assert isinstance(plain, Table)
    assert isinstance(typed, Table)
    assert (plain.has_errors, typed.has_errors) == (False, True)
