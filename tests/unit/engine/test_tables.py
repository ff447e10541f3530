"""The rows of tables: when they come, what they hold, and what becomes of bad values."""

from __future__ import annotations

import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import penstock
from penstock.errors import EvaluationError, LimitError, PenstockWarning, RegistryError
from penstock.registry.durable import DurableRegistry

STATEMENTS = """<Doc><GrpHdr><MsgId>M1</MsgId></GrpHdr>
<Stmt no="1"><Id>S1</Id><Ntry><Amt Ccy="EUR">1.50</Amt></Ntry><Ntry><Amt>x</Amt></Ntry></Stmt>
<Stmt no="2"><Id>S2</Id><Ntry/></Stmt></Doc>"""
ENTRIES = {
    "message": "../../GrpHdr/MsgId",
    "statement": "ancestor::Stmt/Id",
    "amount": ("Amt", "decimal(18,2)"),
}


def engine_of(record: str, columns: dict[str, Any], **options: Any) -> penstock.Engine:
    registry = penstock.Registry()
    registry.add("table", penstock.table(record, columns, **options))
    return penstock.Engine(registry)


def rows_of(record: str, columns: dict[str, Any], document: Any, **options: Any) -> Any:
    return engine_of(record, columns, **options).table(document).to_pylist()


def test_header_values_stand_beside_each_record() -> None:
    rows = rows_of("//Ntry", ENTRIES, STATEMENTS)
    assert [(row["message"], row["statement"], row["amount"]) for row in rows] == [
        ("M1", "S1", Decimal("1.50")),
        ("M1", "S1", None),
        ("M1", "S2", None),
    ]
    assert [row["errors"] for row in rows] == [
        None,
        [{"column": "amount", "value": "x", "reason": "not a valid decimal(18,2)"}],
        None,
    ]


def test_types_are_those_of_arrow() -> None:
    document = """<a><b>007</b><c>1.5</c><d>2024-02-29</d><e>2024-02-29T12:00:00+02:00</e>
    <f>1</f><g>YWI=</g><h> x </h><i/></a>"""
    columns = {
        "integer": ("b", "integer"),
        "text": "b",
        "double": ("c", "double"),
        "date": ("d", "date"),
        "timestamp": ("e", "timestamp"),
        "boolean": ("f", "boolean"),
        "binary": ("g", "binary"),
        "xml": ("h", "xml"),
        "empty": "i",
        "missing": "j",
        "all": ("*", "list[string]"),
    }
    table = engine_of("/a", columns, on_error="raise").table(document)
    assert table.schema == pa.schema(
        [
            ("integer", pa.int64()),
            ("text", pa.string()),
            ("double", pa.float64()),
            ("date", pa.date32()),
            ("timestamp", pa.timestamp("us", "UTC")),
            ("boolean", pa.bool_()),
            ("binary", pa.binary()),
            ("xml", pa.string()),
            ("empty", pa.string()),
            ("missing", pa.string()),
            ("all", pa.list_(pa.string())),
        ]
    )
    (row,) = table.to_pylist()
    assert row.pop("all")[:2] == ["007", "1.5"]
    assert row == {
        "integer": 7,
        "text": "007",
        "double": 1.5,
        "date": date(2024, 2, 29),
        "timestamp": datetime(2024, 2, 29, 10, tzinfo=UTC),
        "boolean": True,
        "binary": b"ab",
        "xml": "<h> x </h>",
        "empty": "",
        "missing": None,
    }


def test_structs_and_lists_of_structs_are_nested() -> None:
    document = "<o><c><n>A</n></c><l q='1'><s>x</s></l><l q='2'/></o>"
    columns = {
        "head": {"name": "c/n"},
        "customer": ("c", {"name": "n"}),
        "nobody": ("d", {"name": "n"}),
        "lines": ("l", [{"q": ("@q", "integer"), "s": "s"}]),
        "none": ("m", [{"q": "@q"}]),
    }
    (row,) = rows_of("/o", columns, document, on_error="raise")
    assert row == {
        "head": {"name": "A"},
        "customer": {"name": "A"},
        "nobody": None,
        "lines": [{"q": 1, "s": "x"}, {"q": 2, "s": None}],
        "none": [],
    }


def test_xml_stands_alone() -> None:
    document = """<!DOCTYPE a [<!ENTITY e "v">]><a xmlns:p="urn:p"><p:b>&e;</p:b></a>"""
    plain = document.partition("]>")[2].replace("&e;", "v")
    for one in (document, plain):
        (row,) = rows_of("/a", {"b": ("*", "xml")}, one)
        assert row == {"b": '<p:b xmlns:p="urn:p">v</p:b>'}


def test_a_row_comes_when_its_record_is_complete() -> None:
    registry = penstock.Registry()
    registry.add("table", penstock.table("//r", {"header": "../h", "value": "v"}))
    document = penstock.Engine(registry).open()
    assert document.feed(b"<a><h>1</h><r><v>2</v>") == []
    (row,) = document.feed(b"</r>")
    assert (row.kind, json.loads(row.value or "")) == ("record", {"header": "1", "value": "2"})


def test_rows_wait_for_a_header_that_comes_later_and_keep_their_order() -> None:
    registry = penstock.Registry()
    registry.add("table", penstock.table("//r", {"id": "@id", "total": "../total"}))
    document = penstock.Engine(registry).open()
    assert document.feed(b"<a><g><r id='1'/><r id='2'/><total>2</total>") == []
    rows = document.feed(b"</g><g><total>1</total><r id='3'/>")
    assert [json.loads(row.value or "") for row in rows] == [
        {"id": "1", "total": "2"},
        {"id": "2", "total": "2"},
        {"id": "3", "total": "1"},
    ]


def test_a_header_that_is_missing_is_null_when_its_element_ends() -> None:
    registry = penstock.Registry()
    registry.add("table", penstock.table("//r", {"total": "../total"}))
    document = penstock.Engine(registry).open()
    assert document.feed(b"<a><g><r/>") == []
    (row,) = document.feed(b"</g>")
    assert row.value == '{"total":null}'


class _Endless(io.RawIOBase):
    """A document with very many records behind a header, made while it is read."""

    def __init__(self, head: bytes, record: bytes, count: int, tail: bytes) -> None:
        self._parts = iter([head, *[record * 1000] * (count // 1000), tail])

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return next(self._parts, b"")


def test_memory_does_not_grow_with_the_records() -> None:
    record = b"<r><v>1</v><w>some more text that nobody asks for</w></r>"
    source = _Endless(b"<a><b><h>x</h><c>", record, 200_000, b"</c></b></a>")
    limits = penstock.Limits(memory_bytes_max=16 << 20)
    registry = penstock.Registry()
    columns = {"h": "../../h", "h2": "ancestor::b/h", "v": ("v", "integer")}
    registry.add("table", penstock.table("/a/b/c/r", columns, on_error="raise"))
    count = 0
    for batch in penstock.Engine(registry, limits).table_batches(source):
        assert 0 < batch.num_rows <= 50_000
        assert set(batch.column("h2").to_pylist()) == {"x"}
        count += batch.num_rows
    assert count == 200_000


def test_records_that_wait_are_bounded_by_the_limits() -> None:
    record = b"<r><v>1</v></r>"
    source = _Endless(b"<a>", record, 300_000, b"<h>x</h></a>")
    registry = penstock.Registry()
    registry.add("table", penstock.table("/a/r", {"h": "../h", "v": "v"}))
    limits = penstock.Limits(memory_bytes_max=16 << 20)
    with pytest.raises(LimitError):
        penstock.Engine(registry, limits).table(source)


def test_a_misfit_raises_if_the_table_says_so() -> None:
    with pytest.raises(EvaluationError, match="column `amount`: `x` is not a valid decimal") as e:
        rows_of("//Ntry", ENTRIES, STATEMENTS, on_error="raise")
    assert e.value.xquery_code == "FORG0001"


def test_a_misfit_sets_its_document_aside() -> None:
    documents = [STATEMENTS, STATEMENTS.replace(">x<", ">2<"), "<broken>"]
    engine = engine_of("//Ntry", ENTRIES, on_error="quarantine")
    with pytest.warns(PenstockWarning) as caught:
        rows = engine.table(documents).to_pylist()
    assert [row["amount"] for row in rows] == [Decimal("1.50"), Decimal("1.50"), 2, None]
    assert len(caught) == 2
    errors = [row for row in engine.run(documents) if row.error is not None]
    assert [row.subscription for row in errors] == ["table", None]


def test_a_document_that_is_not_well_formed_raises() -> None:
    with pytest.raises(penstock.DocumentError):
        rows_of("//Ntry", ENTRIES, STATEMENTS[:-3])


def test_a_table_is_found_by_its_name() -> None:
    registry = penstock.Registry()
    engine = penstock.Engine(registry)
    registry.add("path", "//Ntry")
    with pytest.raises(RegistryError, match="no subscription is a table"):
        engine.table(STATEMENTS)
    registry.add("entries", penstock.table("//Ntry", {"a": "Amt"}))
    assert engine.table(STATEMENTS).num_rows == 3
    registry.add("statements", penstock.table("//Stmt", {"id": "Id"}))
    with pytest.raises(RegistryError, match="several tables"):
        engine.table(STATEMENTS)
    assert engine.table(STATEMENTS, "statements").column("id").to_pylist() == ["S1", "S2"]
    with pytest.raises(RegistryError, match="`path` is no table"):
        engine.table(STATEMENTS, "path")
    with pytest.raises(RegistryError):
        engine.table(STATEMENTS, "nobody")


def test_a_durable_registry_keeps_tables(tmp_path: Path) -> None:
    DurableRegistry(tmp_path / "registry").add("entries", penstock.table("//Ntry", ENTRIES))
    reopened = DurableRegistry(tmp_path / "registry")
    assert penstock.Engine(reopened).table(STATEMENTS).num_rows == 3


def test_an_empty_table_has_its_schema_and_a_reason() -> None:
    engine = engine_of("//ntry", {"a": ("Amt", "double")})
    with pytest.warns(PenstockWarning, match="similar: Ntry"):
        table = engine.table(STATEMENTS)
    assert table.num_rows == 0
    assert table.schema.names == ["a", "errors"]


def test_a_hostile_value_is_written_and_read_as_it_is() -> None:
    values = ['"', "\\", "\\u0041", '{"a":1}', "],[", "null", "\u2028", "𝄞", "\t", "a" * 100_000]
    written = [value.replace("&", "&amp;").replace("<", "&lt;") for value in values]
    document = "<a>" + "".join(f"<b>{value}</b>" for value in written) + "</a>"
    rows = rows_of("//b", {'"]},\\': ".", "l": (".", "list[string]")}, document)
    assert [list(row.values()) for row in rows] == [[value, [value]] for value in values]


def test_explain_and_verdict_know_tables() -> None:
    query = penstock.table("//Ntry", ENTRIES)
    assert penstock.verdict(query).suits_endless
    explained = str(penstock.explain(query))
    assert "amount: decimal(18,2) child::Amt" in explained
    assert "//*/GrpHdr/MsgId: string value" in explained
    assert not penstock.verdict(penstock.table("//a[1]", {"x": "b"})).suits_endless


def test_evaluate_says_where_tables_are_evaluated() -> None:
    with pytest.raises(TypeError, match="Engine"):
        penstock.evaluate(penstock.table("//a", {"x": "b"}), "<a/>")
