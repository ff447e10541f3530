"""What a stream's progress says of what is still to come."""

import json
from typing import Any

import pytest

from penstock.spark.pipelines.progress import Counts, Outcome


def progress(batch: int, *sources: dict[str, Any]) -> dict[str, Any]:
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 500},
        "sources": list(sources),
        "stateOperators": [],
    }


KAFKA = {
    "endOffset": {"orders": {"0": 30, "1": 20}, "more": {"0": 5}},
    "latestOffset": {"orders": {"0": 100, "1": 25}, "more": {"0": 5}},
    "metrics": {"maxOffsetsBehindLatest": "70", "avgOffsetsBehindLatest": "25.0"},
}
FILES = {"endOffset": None, "latestOffset": None, "metrics": {"numFilesOutstanding": "7"}}
OURS = {"endOffset": {"batch": 1}, "latestOffset": {"waiting": 3}, "metrics": {}}


@pytest.mark.parametrize(
    ("sources", "lag"),
    [
        ([KAFKA], 75),
        ([KAFKA | {"latestOffset": json.dumps(KAFKA["latestOffset"])}], 75),
        ([FILES], 7),
        ([OURS], 3),
        ([KAFKA, FILES, OURS], 85),
        ([{"endOffset": "5", "latestOffset": "9", "metrics": {}}], None),
        ([{}, OURS], 3),
    ],
)
def test_what_waits_is_added_up_over_the_sources_that_tell(
    sources: list[dict[str, Any]], lag: int | None
) -> None:
    outcome = Outcome()
    outcome.write(0, Counts(documents=10))
    assert outcome.note(progress(0, *sources))
    assert outcome.lag == lag
    assert ("waiting" in outcome.describe()) == (lag is not None)


def test_a_batch_counts_once_when_spark_reports_it() -> None:
    outcome = Outcome()
    assert not outcome.note(progress(0))
    outcome.write(0, Counts(9, 900, 3, 1))
    outcome.write(0, Counts(10, 1000, 3, 1))  # written again, after a failure
    assert outcome.documents == 0
    assert outcome.note(progress(0))
    assert not outcome.note(progress(0))
    assert (outcome.batches, outcome.documents, outcome.bytes) == (1, 10, 1000)
    assert (outcome.results, outcome.quarantined) == (3, 1)
    assert outcome.documents_per_second == 20


def test_a_batch_that_spark_does_not_report_counts_in_the_end() -> None:
    outcome = Outcome()
    for number in range(4):
        outcome.write(number, Counts(1, 10, 1, 0))
    assert outcome.note(progress(1))
    assert outcome.batches == 2
    outcome.finish()
    assert (outcome.batches, outcome.documents, outcome.bytes) == (4, 4, 40)
