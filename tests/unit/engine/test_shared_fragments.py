"""Matches in bulk have each node once, however few the queries are."""

from __future__ import annotations

from typing import Any

import pytest

import penstock

DOCUMENT = b"<r><a k='1'>x</a><a k='1'>x</a><b><a/></b></r>"


def fragments_of(queries: dict[str, Any], documents: list[bytes]) -> Any:
    registry = penstock.Registry()
    for name, query in queries.items():
        registry.add(name, query)
    (one,) = penstock.Engine(registry).matches(documents)
    return one


def listed(one: Any) -> dict[tuple[str, int], list[tuple[int, str]]]:
    rows = one.fragments.to_pylist()
    found: dict[tuple[str, int], list[tuple[int, str]]] = {}
    for name, entry in zip(one.subscriptions().to_pylist(), one.entries.to_pylist(), strict=True):
        nodes = found.setdefault((name, entry["document"]), [])
        nodes += [(rows[at]["start"], rows[at]["value"]) for at in entry["fragments"] or ()]
    return {key: sorted(nodes) for key, nodes in found.items()}


@pytest.mark.parametrize("more", [0, 100])
def test_a_node_that_several_queries_select_is_there_once(more: int) -> None:
    queries: dict[str, Any] = {"a": "//a", "b": "/r/a", "c": "//*[self::a]", "d": "//a | //b"}
    queries |= {f"n{number}": f"//c[. = '{number}']" for number in range(more)}
    one = fragments_of(queries, [DOCUMENT, DOCUMENT])
    places = [(row["document"], row["start"]) for row in one.fragments.to_pylist()]
    assert sorted(places) == sorted(set(places))
    assert len(places) == 2 * 4
    nodes = listed(one)
    assert nodes["a", 0] == nodes["c", 1] == [*nodes["b", 0], *nodes["a", 0][2:]]


def test_equal_values_of_several_queries_are_there_once() -> None:
    one = fragments_of({"m": "count(//a)", "n": "count(//a)", "o": "count(//b)"}, [DOCUMENT])
    assert sorted(row["value"] for row in one.fragments.to_pylist()) == ["1", "3"]


def test_nodes_with_values_beside_them_keep_their_own() -> None:
    queries = {
        "plain": "//a",
        "one": penstock.xpath("//a", select={"k": "@k"}),
        "two": penstock.xpath("//a", select={"n": "name(..)"}),
    }
    one = fragments_of(queries, [DOCUMENT])
    beside = [dict(row["bindings"]) for row in one.fragments.to_pylist() if row["bindings"]]
    assert sorted(map(str, beside)) == sorted(
        map(str, [{"k": "1"}, {"k": "1"}, {"k": None}, {"n": "r"}, {"n": "r"}, {"n": "b"}])
    )


def test_an_attribute_and_its_element_differ() -> None:
    one = fragments_of({"e": "//a", "k": "//@k", "t": "//a/text()", "l": "//a/@k"}, [DOCUMENT])
    kinds = sorted(row["kind"] for row in one.fragments.to_pylist())
    assert kinds == ["attribute"] * 2 + ["element"] * 3 + ["text"] * 2
