"""The Spark session of a pipeline."""

from pathlib import Path

import pytest

from penstock.spark.pipelines import ConfigurationError, Pipeline, load
from penstock.spark.pipelines.sessions import _with_retries

PIPELINE = """\
sources: [{kind: files, path: .}]
registry: {subscriptions: [{name: a, query: //a}]}
sinks: [{kind: console}]
"""


def loaded(folder: Path, text: str) -> Pipeline:
    (folder / "pipeline.yaml").write_text(text)
    return load(folder / "pipeline.yaml")


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


@pytest.mark.parametrize(
    ("spark", "is_shipped"),
    [("", True), ("spark: {master: yarn}\n", True), ("spark: {ship: false}\n", False)],
)
def test_workers_get_the_package_unless_the_file_says_otherwise(
    tmp_path: Path, spark: str, is_shipped: bool
) -> None:
    assert loaded(tmp_path, spark + PIPELINE).is_shipped is is_shipped


def test_whether_to_ship_is_true_or_false(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="none of the possible values") as caught:
        loaded(tmp_path, "spark: {ship: maybe}\n" + PIPELINE)
    assert caught.value.code == "PC0005"
