"""What is shown of each version of Spark, and the tests that show it."""

from __future__ import annotations

VERSIONS = ("3.5", "4.0", "4.1", "4.2", "4.3")
REFUSED = "tests/spark/versions/test_refused.py"

CAPABILITIES = {
    "match batch": [
        "tests/spark/test_match.py::test_corpus_gives_the_rows_of_the_engine_in_batch_and_as_a_stream",
        "tests/spark/test_match.py::test_generated_documents_give_the_rows_of_the_engine",
        "tests/spark/test_match.py::test_every_bad_document_is_quarantined_once",
        "tests/spark/test_match.py::test_columns_are_those_of_the_library",
        "tests/spark/test_metrics.py::test_a_batch_is_observed_and_has_the_rows_of_match",
    ],
    "match stream": [
        "tests/spark/test_streaming.py::test_stream_to_files_gives_the_rows_of_batch",
        "tests/spark/test_streaming.py::test_processing_time_trigger_gives_the_rows_of_batch",
        "tests/spark/test_metrics.py::test_a_listener_adds_up_the_batches_of_a_stream",
    ],
    "live registry": [
        "tests/spark/test_streaming.py::test_changes_of_a_durable_registry_take_effect_in_the_next_batch",
        "tests/spark/test_streaming.py::test_replayed_batch_gives_the_identical_rows",
    ],
    "large plan": ["tests/spark/test_match.py::test_large_plan_travels_as_a_file"],
    "penstock-xml": ["tests/spark/test_xml_source.py"],
    "join": [
        "tests/spark/joins/test_batch.py::test_corpus_gives_the_rows_of_the_engine",
        "tests/spark/joins/test_batch.py::test_documents_that_fail_or_come_twice_are_as_in_the_engine",
    ],
    "join_stream": [
        "tests/spark/joins/test_stream.py::test_corpus_and_random_cases_in_one_stream_equal_the_engine",
        "tests/spark/joins/test_stream.py::test_a_batch_that_comes_again_gives_the_same_rows",
        "tests/spark/joins/test_stream.py::test_subscriptions_come_and_go_while_the_stream_runs",
    ],
    "pipeline": [
        "tests/spark/versions/test_tables_of_spark.py",
        "tests/spark/test_pipelines.py::test_a_stream_goes_on_where_it_stopped_and_writes_to_all_sinks",
        "tests/spark/test_pipelines.py::test_a_batch_gives_the_rows_of_the_stream",
        "tests/spark/test_pipelines.py::test_a_stream_goes_on_when_a_worker_dies",
    ],
}
"""Tests by what they show."""

LACKING = {
    "3.5": {
        "penstock-xml": (
            [REFUSED],
            "refused",
            "PV0001: data sources in Python came with Spark 4.0",
        ),
        "pipeline": (
            ["tests/spark/versions/test_tables_of_spark.py", REFUSED],
            "in part",
            "With Spark's own sources; `files` and `feeds` are refused with PV0001",
        ),
    }
}
"""What a version has only in part: the tests that show how far, a word for it, and a note."""


def asked_of(version: str) -> dict[str, list[str]]:
    """Return the tests of a version by what they show."""
    lacking = LACKING.get(version, {})
    return {
        name: lacking[name][0] if name in lacking else tests for name, tests in CAPABILITIES.items()
    }
