"""Running aggregates: a value after every node, for streams that do not end."""

from __future__ import annotations

from pathlib import Path

import pytest

import penstock
from penstock.errors import RegistryError
from tests.registry_files import rewrite_rows


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("count(//a)", ["1", "2", "3"]),
        ("sum(//a)", ["1", "6", "8"]),
        ("avg(//a)", ["1", "3", "2.6666666666666665"]),
        ("min(//a)", ["1", "1", "1"]),
        ("max(//a)", ["1", "5", "5"]),
    ],
)
def test_a_running_aggregate_reports_after_every_node(query: str, values: list[str]) -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xpath(query), mode="running")
    rows = list(penstock.Engine(registry).run(b"<r><a>1</a><b><a>5</a></b><a>2</a></r>"))
    assert [row.value for row in rows] == values
    assert [row.ordinal for row in rows] == [0, 1, 2]


def test_a_running_aggregate_reports_while_the_document_is_open() -> None:
    registry = penstock.Registry()
    registry.add("q", penstock.xpath("count(//a)"), mode="running")
    with penstock.Engine(registry).open(id="d") as document:
        assert [row.value for row in document.feed(b"<r><a/>")] == ["1"]
        assert [row.value for row in document.feed(b"<a/>")] == ["2"]
        document.feed(b"</r>")


def test_running_is_for_aggregates_only() -> None:
    with pytest.raises(RegistryError, match="PR0004"):
        penstock.Registry().add("q", penstock.xpath("//a"), mode="running")


def test_a_running_aggregate_stays_one_when_it_is_compiled_again(tmp_path: Path) -> None:
    registry = penstock.Registry.open(tmp_path)
    registry.add("q", "count(//a)", mode="running")
    registry.close()
    rewrite_rows(tmp_path, compiler="old", program=b"\0")
    rows = penstock.Engine(penstock.Registry.open(tmp_path)).run("<r><a/><a/></r>")
    assert [row.value for row in rows] == ["1", "2"]
