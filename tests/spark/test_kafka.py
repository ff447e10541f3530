"""Kafka through Spark's own connector, against a real broker on loopback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import penstock
from tests.spark.helpers.kafka_job import RUNS, order, registry
from tests.spark.kills.victims import Victim

pytestmark = pytest.mark.spark

Ids = dict[tuple[Any, ...], tuple[Any, ...]]


def messages(folder: Path, topic: str) -> list[list[str]]:
    """Return place, key and value of what a topic holds."""
    found: list[list[str]] = json.loads((folder / f"{topic}.json").read_text("utf-8"))
    return found


def rows_in(folder: Path, *topics: str) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    """Return the rows in topics: the id of each, and what is said under it."""
    rows = [json.loads(value) for topic in topics for _, _, value in messages(folder, topic)]
    return [
        (
            (row.get("subscription"), row["document"], row["ordinal"]),
            (row.get("value"), *(row["error"][name] for name in ("code", "byte")))
            if row.get("error")
            else (row.get("value"), None, None),
        )
        for row in rows
    ]


def expected_rows(documents: dict[str, int]) -> Ids:
    """Return what the engine says of orders; the keys are the ids of the documents."""
    source = [penstock.Document(order(number), id_) for id_, number in documents.items()]
    return {
        row.id: (row.value, row.error and row.error.code, row.error and row.error.byte)
        for row in penstock.Engine(registry()).run(source)
    }


def places(folder: Path, topic: str) -> dict[str, int]:
    """Return where in a topic each order stands, by topic, partition and offset."""
    return {place: int(key) for place, key, _ in messages(folder, topic)}


def test_documents_of_a_topic_become_results_in_another_over_a_restart(
    broker: str, connector: str, tmp_path: Path
) -> None:
    Victim(
        ["tests.spark.helpers.kafka_job", "whole", broker, connector, str(tmp_path)], tmp_path
    ).finish()
    numbers = [number for run in RUNS for number in run]
    streamed = rows_in(tmp_path, "results", "quarantine")
    assert dict(streamed) == expected_rows({str(number): number for number in numbers})
    assert len(streamed) == len(dict(streamed))
    assert len(messages(tmp_path, "quarantine")) == len([n for n in numbers if n % 20 == 3])
    # The pipeline, by the command: the id of a document is its place in the topic.
    piped = rows_in(tmp_path, "orders-results", "orders-quarantine")
    assert dict(piped) == expected_rows(places(tmp_path, "orders"))
    assert len(piped) == len(dict(piped))
    for _, key, value in messages(tmp_path, "orders-results"):
        row = json.loads(value)
        assert json.loads(key) == [row["subscription"], row["document"], row["ordinal"]]
        assert row["stream"] == "orders"
