"""Arrow record batches hold the same rows."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pytest

import penstock
from penstock.engine import batches
from penstock.results.arrow import schema
from tests.unit.engine.test_engine import QUERIES, SHELF, registry_of


def rows_of(found: list[Any]) -> list[dict[str, Any]]:
    return [row for batch in found for row in batch.to_pylist()]


def as_arrow(row: penstock.Result) -> dict[str, Any]:
    """Return a row as it looks after a way through Arrow."""
    plain = {name: getattr(row, name) for name in schema().names}
    if row.error is not None:
        plain["error"] = {name: getattr(row.error, name) for name in row.error.__slots__}
    return plain


@pytest.mark.parametrize("order", ["decided", "document"])
def test_batches_hold_the_rows_of_run(order: Any) -> None:
    engine = penstock.Engine(registry_of(QUERIES))
    source = [
        penstock.Document(SHELF, id="é", stream="s", time=1.5),
        penstock.Document("<a>", id="bad"),
        penstock.Document("<a/>"),
        penstock.Document(SHELF.encode()),
    ]
    found = list(engine.batches(source, order=order))
    assert all(batch.schema == schema() for batch in found)
    assert rows_of(found) == [as_arrow(row) for row in engine.run(source, order=order)]


def test_batches_are_valid_arrow() -> None:
    for batch in penstock.Engine(registry_of(QUERIES)).batches(SHELF):
        batch.validate(full=True)
        table = pa.Table.from_batches([batch])
        assert table.num_rows == batch.num_rows


def test_values_beside_results_are_maps() -> None:
    registry = registry_of({"plain": "//title"})
    select = {"id": "../@id", "price": "../price", "shelf": "ancestor::shelf/@name"}
    registry.add("with", penstock.xpath("//title", select=select))
    engine = penstock.Engine(registry)
    for batch in engine.batches(SHELF):
        batch.validate(full=True)
    rows = rows_of(list(engine.batches([SHELF, "<none/>", SHELF])))
    expected = [
        [("id", "1"), ("price", "10"), ("shelf", None)],
        [("id", "2"), ("price", "12"), ("shelf", None)],
    ]
    assert [row["bindings"] for row in rows if row["subscription"] == "with"] == expected * 2
    assert [row["bindings"] for row in rows if row["subscription"] == "plain"] == [None] * 4


def test_a_batch_is_handed_out_when_it_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "PACE", replace(batches.PACE, rows_max=2))
    monkeypatch.setattr("penstock.sources.memory.WHOLE_BYTES_MAX", 0)
    monkeypatch.setattr("penstock.sources.memory.CHUNK_BYTES", 8)
    document = "<a>" + "<b/>" * 20 + "</a>"
    engine = penstock.Engine(registry_of({"b": "//b"}))
    found = list(engine.batches(document))
    assert len(found) > 5
    assert rows_of(found) == [as_arrow(row) for row in engine.run(document)]


def test_small_documents_share_a_batch() -> None:
    engine = penstock.Engine(registry_of({"b": "//b"}))
    found = list(engine.batches([f"<a><b>{n}</b></a>" for n in range(200)]))
    assert len(found) < 100
    assert [row["document"] for row in rows_of(found)] == [str(n) for n in range(200)]


def test_a_change_of_the_registry_is_seen_from_the_next_document_on() -> None:
    registry = registry_of({"b": "//b"})

    def documents() -> Any:
        yield "<a><b/><c/></a>"
        registry.replace("b", "//c")
        registry.add("a", "/a/b")
        yield "<a><b/><c/></a>"

    found = rows_of(list(penstock.Engine(registry).batches(documents())))
    assert [(row["document"], row["subscription"], row["name"]) for row in found] == [
        ("0", "b", "b"),
        ("1", "a", "b"),
        ("1", "b", "c"),
    ]


def test_nothing_found_is_no_batch() -> None:
    assert list(penstock.Engine(registry_of({"z": "//z"})).batches(SHELF)) == []


def test_a_bundle_gives_the_rows_of_run_each_error_behind_those_of_its_document() -> None:
    registry = penstock.Registry()
    for number in range(100):
        registry.add(f"f{number}", penstock.xpath(f"//b/c{number % 10}"), mode="filter")
    registry.add("query", penstock.xpath("//b"))
    texts = [f"<a><b><c{number}/></b></a>" for number in range(12)]
    for number in (0, 5, 6, 11):
        texts[number] = texts[number].removesuffix("</a>")
    documents = [penstock.Document(text.encode(), id=f"d{n}") for n, text in enumerate(texts)]
    engine = penstock.Engine(registry)
    rows = rows_of(list(engine.batches(documents)))
    assert rows == [as_arrow(row) for row in engine.run(documents)]
    last = [
        row
        for row, after in pairwise([*rows, {"document": None}])
        if row["document"] != after["document"]
    ]
    assert [row["document"] for row in last if row["kind"] == "error"] == ["d0", "d5", "d6", "d11"]
