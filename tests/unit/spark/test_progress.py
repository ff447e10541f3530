"""What a stream's progress says of what is still to come."""

import json
from typing import Any

import pytest

from penstock.spark.pipelines.progress import MEASURES, Outcome


def progress(batch: int, *sources: dict[str, Any]) -> dict[str, Any]:
    return {
        "batchId": batch,
        "durationMs": {"triggerExecution": 500},
        "observedMetrics": {MEASURES: {"documents": 10, "bytes": 1000}},
        "numInputRows": 10,
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
    assert outcome.note(progress(0, *sources))
    assert outcome.lag == lag
    assert ("waiting" in outcome.describe()) == (lag is not None)


def test_a_batch_counts_once() -> None:
    outcome = Outcome()
    assert outcome.note(progress(0))
    assert not outcome.note(progress(0))
    assert outcome.note(progress(1))
    assert (outcome.batches, outcome.documents, outcome.bytes) == (2, 20, 2000)
    assert outcome.documents_per_second == 20
