"""A pipeline from Kafka to Kafka is killed again and again; nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest
from tests.spark.victims import Victim, committed

from tests.spark.kafka_job import write_pipeline
from tests.spark.test_kafka import expected_rows, places, rows_in

pytestmark = [pytest.mark.spark, pytest.mark.slow]

KILLS = 20
ORDERS = 12_000
"""More than can be read before the last kill, 30 in each batch."""
TOPIC = "killed"


def test_kills_at_random_moments_lose_nothing_and_repeat_only_equal_rows(
    broker: str, connector: str, tmp_path: Path
) -> None:
    random, checkpoint = Random(31), tmp_path / f"checkpoint-{TOPIC}"
    job = ["tests.spark.kafka_job"]
    place = [broker, connector, str(tmp_path), TOPIC]
    Victim([*job, "fill", *place, str(ORDERS)], tmp_path).finish()
    endless = "{processing_time: 50 milliseconds}"
    pipeline = write_pipeline(tmp_path, broker, connector, TOPIC, endless)
    command = ["penstock", "run", str(pipeline), "--quiet"]
    for kills in range(KILLS):
        before = committed(checkpoint)
        running = Victim(command, tmp_path)
        # Most moments lie between two batches or inside one, some before the stream begins.
        if kills % 6 == 5:
            time.sleep(random.uniform(0.5, 15))
        else:
            wanted = before + random.randint(1, 3)
            running.wait_until(lambda wanted=wanted: committed(checkpoint) >= wanted)
            time.sleep(random.uniform(0, 1))
        running.kill()
    killed_at = committed(checkpoint)
    assert killed_at < ORDERS / 30, "the kills came after everything was read"
    pipeline = write_pipeline(tmp_path, broker, connector, TOPIC, "available_now")
    rest = pipeline.read_text("utf-8").replace(
        "maxOffsetsPerTrigger: 30", "maxOffsetsPerTrigger: 5000"
    )
    pipeline.write_text(rest, "utf-8")
    Victim(command, tmp_path).finish(3)  # there is quarantine

    topics = [f"{TOPIC}-results", f"{TOPIC}-quarantine"]
    Victim([*job, "dump", *place, *topics], tmp_path).finish()
    found = rows_in(tmp_path, *topics)
    expected = expected_rows(places(tmp_path, TOPIC))
    assert len([row for row in expected if row[0] is None]) == ORDERS // 20
    # Every row is there, and what came more than once said the same each time.
    assert {id_ for id_, _ in found} == expected.keys()
    assert all(expected[id_] == said for id_, said in found)
    assert killed_at >= KILLS // 2, "the kills came before there was anything to lose"
