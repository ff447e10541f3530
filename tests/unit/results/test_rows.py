"""Rows: their columns, ids, JSON, and that they travel."""

import json
import pickle
from base64 import b64decode
from dataclasses import FrozenInstanceError
from datetime import UTC, datetime, timedelta, timezone

import pytest

import penstock
from penstock.results import COLUMNS, Document, Result

DESIGNED = (
    "subscription stream document documents ordinal kind name value start end decided_at "
    "event_time bindings error source"
)


def rows_of(document: object, *queries: str, **settings: object) -> list[Result]:
    registry = penstock.Registry()
    for query in queries:
        registry.add(query, query)
    document = Document(document, **settings)  # type: ignore[arg-type]
    return list(penstock.Engine(registry).run(document))


def test_a_row_has_the_designed_columns_in_order() -> None:
    assert " ".join(COLUMNS) == DESIGNED
    (row,) = rows_of("<a/>", "/a")
    assert list(row.as_dict()) == DESIGNED.split()


def test_a_row_cannot_be_changed() -> None:
    (row,) = rows_of("<a/>", "/a")
    with pytest.raises(FrozenInstanceError):
        row.value = "x"  # type: ignore[misc]


def test_an_id_is_subscription_document_and_ordinal() -> None:
    rows = rows_of("<a><b/><b/></a>", "//b", id="d")
    assert [row.id for row in rows] == [("//b", "d", 0), ("//b", "d", 1)]


def test_every_kind_of_node_and_value_is_reported_as_such() -> None:
    text = '<a x="1"><!--c-->t<?p i?></a>'
    kinds = {
        "/": ("document", "", text),
        "/a": ("element", "a", text),
        "/a/@x": ("attribute", "x", "1"),
        "//text()": ("text", "", "t"),
        "//comment()": ("comment", "", "c"),
        "//processing-instruction()": ("processing-instruction", "p", "i"),
        "count(//a)": ("number", "", "1"),
        "string(/a)": ("string", "", "t"),
        "boolean(/a)": ("boolean", "", "true"),
    }
    found = {row.subscription: (row.kind, row.name, row.value) for row in rows_of(text, *kinds)}
    assert found == kinds


def test_a_name_carries_its_namespace() -> None:
    (row,) = rows_of('<p:a xmlns:p="urn:p"/>', "/*")
    assert row.name == "{urn:p}a"


def test_json_holds_every_column_on_one_line() -> None:
    (row,) = rows_of("<a>é\n</a>", "/a", id="d", time=0)
    line = row.as_json()
    assert "\n" not in line
    assert json.loads(line) == {
        "subscription": "/a",
        "stream": "default",
        "document": "d",
        "documents": None,
        "ordinal": 0,
        "kind": "element",
        "name": "a",
        "value": "<a>é\n</a>",
        "start": 0,
        "end": 10,
        "decided_at": 3,
        "event_time": "1970-01-01T00:00:00+00:00",
        "bindings": None,
        "error": None,
        "source": None,
    }


def test_json_of_an_error_holds_its_fields_and_the_bytes_in_base64() -> None:
    (row,) = rows_of(b"<a>\n<b></a>", "//c")
    error = json.loads(row.as_json())
    assert error["kind"] == "error"
    assert error["subscription"] is None
    assert error["error"]["code"] == "PD0007"
    assert (error["error"]["line"], error["error"]["path"]) == (2, "/a/b")
    assert b64decode(error["source"]) == b"<a>\n<b></a>"


def test_rows_pickle_whole() -> None:
    rows = rows_of('<p:a xmlns:p="urn:p"><b/></p:a>', "//b")
    (copy,) = pickle.loads(pickle.dumps(rows))
    assert [copy] == rows
    assert copy.xml == rows[0].xml == '<b xmlns:p="urn:p"/>'


@pytest.mark.parametrize(
    "time",
    [
        0.5,
        datetime(1970, 1, 1, 0, 0, 0, 500_000),
        datetime(1970, 1, 1, 1, 0, 0, 500_000, timezone(timedelta(hours=1))),
    ],
)
def test_an_event_time_is_seconds_or_a_moment(time: float | datetime) -> None:
    (row,) = rows_of("<a/>", "/a", time=time)
    assert row.event_time == datetime(1970, 1, 1, 0, 0, 0, 500_000, UTC)
