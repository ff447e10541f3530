"""Matches hold the same as rows, each node once."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest

import penstock
from penstock.engine import matches
from penstock.engine.matches import Matches
from penstock.errors import RegistryError
from penstock.registry.plans.names import AttachedNames, look_up
from tests.unit.engine.test_engine import QUERIES, SHELF, registry_of

MANY = {f"many{number}": f"//book[@id = '{number}']" for number in range(100)}
"""So many that documents are asked, instead of being matched."""


def spread(found: list[Matches]) -> Counter[Any]:
    """Return what matches say, as it would be said row by row."""
    rows: Counter[Any] = Counter()
    for one in found:
        documents, fragments = one.documents.to_pylist(), one.fragments.to_pylist()
        for entry, name in zip(
            one.entries.to_pylist(), one.subscriptions().to_pylist(), strict=True
        ):
            document = documents[entry["document"]]
            for place in entry["fragments"]:
                node = fragments[place]
                assert node["document"] == entry["document"]
                said = (node["kind"], node["name"], node["value"], node["start"], node["end"])
                rows[(name, document["document"], document["stream"], *said)] += 1
            if not entry["fragments"]:
                rows[(name, document["document"], document["stream"], "match")] += 1
    return rows


def expected(engine: penstock.Engine, source: Any) -> Counter[Any]:
    rows: Counter[Any] = Counter()
    for row in engine.run(source):
        if row.error is None:
            said = (
                (row.kind,)
                if row.kind == "match"
                else (row.kind, row.name, row.value, row.start, row.end)
            )
            rows[(row.subscription, row.document, row.stream, *said)] += 1
    return rows


@pytest.mark.parametrize("more", [{}, MANY], ids=["few", "many"])
@pytest.mark.parametrize("mode", ["query", "filter"])
def test_matches_say_what_rows_say(more: dict[str, str], mode: Any) -> None:
    registry = registry_of({**QUERIES, **more})
    for number, text in enumerate(more.values()):
        registry.add(f"other{number}", text, mode=mode)
    engine = penstock.Engine(registry)
    source = [
        penstock.Document(SHELF, id="é", stream="s", time=1.5),
        penstock.Document(SHELF[:-10], id="bad"),
        penstock.Document("<a/>"),
        penstock.Document(SHELF.encode()),
    ]
    found = list(engine.matches(source))
    for one in found:
        for batch in (one.documents, one.entries, one.fragments, one.errors):
            batch.validate(full=True)
    assert spread(found) == expected(engine, source)
    assert [row["document"] for one in found for row in one.errors.to_pylist()] == ["bad"]


def test_a_node_that_many_found_is_there_once() -> None:
    texts = {f"same{number}": f"//title[. != '{number}']" for number in range(200)}
    (found,) = penstock.Engine(registry_of(texts)).matches(SHELF)
    assert found.entries.num_rows == 200
    assert found.fragments.num_rows == 2
    assert sorted(found.subscriptions().to_pylist()) == sorted(texts)


def test_matches_are_handed_out_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    pace = replace(matches.PACE, documents_max=2, linger_seconds=1e9)
    monkeypatch.setattr(matches, "PACE", pace)
    engine = penstock.Engine(registry_of(QUERIES))
    sizes = [one.documents.num_rows for one in engine.matches([SHELF] * 5)]
    assert sizes == [2, 2, 1]


def test_a_change_of_the_registry_is_seen_by_the_next_document() -> None:
    registry = registry_of({"a": "//title"})

    def documents() -> Any:
        yield SHELF
        registry.add("b", "//book")
        yield SHELF

    first, second = penstock.Engine(registry).matches(documents())
    assert set(first.subscriptions().to_pylist()) == {"a"}
    assert set(second.subscriptions().to_pylist()) == {"a", "b"}


def test_a_buffer_may_be_used_again_for_the_next_document() -> None:
    def documents() -> Iterator[bytearray]:
        buffer = bytearray(b"<a><b/></a>")
        yield buffer
        buffer[:] = b"<a><c/><c/></a>"
        yield buffer

    engine = penstock.Engine(registry_of({"b": "//b", "c": "//c"}))
    found = [
        (entry["document"], found.names[entry["subscription"]])
        for found in engine.matches(documents())
        for entry in found.entries.to_pylist()
    ]
    assert sorted(set(found)) == [(0, "b"), (1, "c")]


def test_an_error_has_the_bytes_of_a_buffer_that_is_used_again() -> None:
    def documents() -> Iterator[bytearray]:
        buffer = bytearray(b"<a><b></a>")
        yield buffer
        buffer[:] = b"<a><c/></a>"
        yield buffer

    engine = penstock.Engine(registry_of({"b": "//b"}))
    errors = [row for one in engine.matches(documents()) for row in one.errors.to_pylist()]
    assert [row["source"] for row in errors] == [b"<a><b></a>"]


def test_a_subscription_that_joins_is_rejected() -> None:
    registry = registry_of({"b": "//b"})
    engine = penstock.Engine(registry)
    joining = penstock.xscl("S//a->x JOIN{x = y, 9} S//b->y")

    def documents() -> Iterator[str]:
        yield SHELF
        registry.add("pair", joining)
        yield SHELF

    started = engine.matches(documents())
    with pytest.raises(RegistryError, match=r"`pair` .* use Engine\.run") as later:
        list(started)
    with pytest.raises(RegistryError) as at_once:
        engine.matches(SHELF)
    assert (later.value.code, at_once.value.code) == ("PR0011", "PR0011")


def test_names_are_the_same_for_few_rows_and_for_many() -> None:
    names = AttachedNames([("a", "b"), (), ("c",)])
    numbers = pa.array([2, 0, 1], pa.uint32())
    few, many = look_up(names, numbers), look_up(names, pa.concat_arrays([numbers] * 1000))
    assert few.to_pylist() == ["c", "a", "b"]
    assert many.to_pylist() == few.to_pylist() * 1000
    assert few.type == many.type == AttachedNames([]).arrow.type
