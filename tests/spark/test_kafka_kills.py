"""A pipeline from Kafka to Kafka is killed again and again; nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

import pytest

from tests.spark.helpers.kafka_job import write_pipeline
from tests.spark.kills.checkpoints import committed
from tests.spark.kills.strikes import Strike, execute
from tests.spark.kills.victims import Victim
from tests.spark.test_kafka import expected_rows, places, rows_in

pytestmark = [pytest.mark.spark, pytest.mark.slow]

ORDERS = 3_000
"""More than can be read before the last kill, 30 in each batch."""
TOPIC = "killed"
PLACES = (
    Strike("task", "inside task", 1),
    Strike("task", "after kafka", 1),
    Strike("start-up", "before query"),
    Strike("commit", "commits", 2),
    Strike("stop", "before session stop", 1, is_group=True),
)
STRIKES = [Strike("start-up", "offsets"), *islice(cycle(PLACES), 19)]


@dataclass
class KafkaProject:
    """A topic full of orders. What the sinks hold is read at the end only and proves nothing."""

    folder: Path
    broker: str
    connector: str
    sinks: Sequence[str] = ()
    exit_code: int = 3  # some orders are cut short

    @property
    def checkpoint(self) -> Path:
        """Where the stream keeps how far it came."""
        return self.folder / f"checkpoint-{TOPIC}"

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the command of the pipeline, which goes on for ever or reads what is left."""
        trigger = "{processing_time: 50 milliseconds}" if is_endless else "available_now"
        path = write_pipeline(self.folder, self.broker, self.connector, TOPIC, trigger)
        if not is_endless:
            text = path.read_text("utf-8")
            text = text.replace("maxOffsetsPerTrigger: 30", "maxOffsetsPerTrigger: 5000")
            path.write_text(text, "utf-8")
        return ["penstock", "run", str(path), "--quiet"]

    def feed(self) -> None:
        """Leave the topic as it is: it is full from the beginning."""

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return nothing."""
        return ()


def test_kills_lose_nothing_and_repeat_only_equal_rows(
    broker: str, connector: str, tmp_path: Path
) -> None:
    job = ["tests.spark.helpers.kafka_job"]
    place = [broker, connector, str(tmp_path), TOPIC]
    Victim([*job, "fill", *place, str(ORDERS)], tmp_path).finish()
    project = KafkaProject(tmp_path, broker, connector)
    kills = [execute(project, strike) for strike in STRIKES]
    assert committed(project.checkpoint) < ORDERS / 30, "the kills came after everything was read"
    assert sum(kill.completed > 0 and not kill.doubt for kill in kills) >= len(kills) // 2
    Victim(project.command(is_endless=False), tmp_path).finish(project.exit_code)

    topics = [f"{TOPIC}-results", f"{TOPIC}-quarantine"]
    Victim([*job, "dump", *place, *topics], tmp_path).finish()
    found = rows_in(tmp_path, *topics)
    expected = expected_rows(places(tmp_path, TOPIC))
    assert len([row for row in expected if row[0] is None]) == ORDERS // 20
    # Every row is there, and what came more than once said the same each time.
    assert {id_ for id_, _ in found} == expected.keys()
    assert all(expected[id_] == said for id_, said in found)
