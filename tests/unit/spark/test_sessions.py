"""The Spark session of a pipeline."""

import pytest

from penstock.spark.pipelines.sessions import _with_retries


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ("local", "local[1,4]"),
        ("local[2]", "local[2,4]"),
        ("local[*]", "local[*,4]"),
        ("local[2,1]", "local[2,1]"),
        ("spark://127.0.0.1:7077", "spark://127.0.0.1:7077"),
    ],
)
def test_tasks_of_local_mode_are_tried_as_often_as_those_of_a_cluster(
    given: str, made: str
) -> None:
    assert _with_retries(given) == made
