"""The data source ``penstock-feeds`` against a server on loopback."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.spark.sources import register
from tests.feed_server import FeedServer, atom, rss

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def server() -> Iterator[FeedServer]:
    """Return a running server with two feeds and an address that answers with an error."""
    with FeedServer().running() as running:
        running.pages |= {"/rss": rss("1", "2"), "/atom": atom("a"), "/broken": 500}
        yield running


def options(server: FeedServer, folder: Path) -> dict[str, str]:
    """Return the options for all feeds of the server."""
    urls = [server.url(path) for path in ("/rss", "/broken", "/atom")]
    return {"urls": json.dumps(urls), "stateLocation": str(folder), "pollSeconds": "0"}


class Reading:
    """A stream reader, driven as Spark drives it."""

    def __init__(self, given: dict[str, str]) -> None:
        from penstock.spark.sources.bounds import ReadAllAvailable
        from penstock.spark.sources.feeds import PenstockFeeds

        self.reader = PenstockFeeds(given).streamReader(None)
        self.limit = ReadAllAvailable()

    def latest(self, start: dict[str, int]) -> dict[str, int]:
        return self.reader.latestOffset(start, self.limit)

    def rows(self, start: dict[str, int], end: dict[str, int]) -> list[dict[str, Any]]:
        parts = self.reader.partitions(start, end)
        batches = (batch for part in parts for batch in self.reader.read(part))
        return [row for batch in batches for row in batch.to_pylist()]


def guids(rows: list[dict[str, Any]]) -> list[str | None]:
    """Return the guids of rows; a feed that failed has none."""
    return [row["guid"] for row in rows]


def test_a_replay_gives_the_rows_that_the_server_no_longer_shows(
    server: FeedServer, tmp_path: Path
) -> None:
    given = options(server, tmp_path)
    first = Reading(given)
    start = first.reader.initialOffset()
    end = first.latest(start)
    rows = first.rows(start, end)
    assert guids(rows) == ["1", "2", None, "a"]
    assert rows[2]["fault"]["code"] == "PS0009"
    assert first.latest(end) == end
    server.pages |= {"/rss": rss("3"), "/atom": atom("a", "b")}
    later = first.latest(end)
    again = Reading(given)
    assert again.rows(start, end) == rows
    assert guids(again.rows(end, later)) == ["3", "b"]
    assert guids(again.rows(start, later)) == ["1", "2", None, "a", "3", "b"]
    again.reader.commit(later)
    assert len(list(tmp_path.iterdir())) == 1
    assert again.latest(later) == later


def test_a_poll_kept_just_before_a_crash_is_not_lost(server: FeedServer, tmp_path: Path) -> None:
    given = options(server, tmp_path)
    start = Reading(given).reader.initialOffset()
    Reading(given).latest(start)
    after = Reading(given)
    assert after.reader.initialOffset() == start
    assert guids(after.rows(start, after.latest(start))) == ["1", "2", None, "a"]


def test_a_stream_needs_a_place_for_its_state() -> None:
    with pytest.raises(ValueError, match="stateLocation"):
        Reading({"urls": '["http://127.0.0.1/a"]'})


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({}, "`urls` is missing"),
        ({"urls": "x"}, "not a JSON list"),
        ({"path": "file:///a"}, "http or https"),
        ({"path": "http://x", "pollSeconds": "soon"}, "pollSeconds"),
    ],
)
def test_a_wrong_option_is_named(given: dict[str, str], says: str) -> None:
    from penstock.spark.sources.feeds import FeedOptions

    with pytest.raises(ValueError, match=says):
        FeedOptions.of(given)


def test_spark_reads_every_item_once_over_restarts(
    spark: SparkSession, server: FeedServer, tmp_path: Path
) -> None:
    register(spark)
    given = options(server, tmp_path / "state")

    def run() -> list[str]:
        documents = spark.readStream.format("penstock-feeds").options(**given).load()
        query = (
            documents.where("fault is null")
            .select("guid", "ts")
            .writeStream.format("json")
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start(str(tmp_path / "rows"))
        )
        query.awaitTermination()
        rows = spark.read.schema("guid string, ts timestamp").json(str(tmp_path / "rows"))
        return sorted(row["guid"] for row in rows.collect())

    assert run() == ["1", "2", "a"]
    server.pages["/rss"] = rss("2", "3")
    assert run() == ["1", "2", "3", "a"]
    batch = spark.read.format("penstock-feeds").options(**given).load()
    assert sorted(row["guid"] or "" for row in batch.collect()) == ["", "2", "3", "a"]
