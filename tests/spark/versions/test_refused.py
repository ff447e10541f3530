"""What a version of Spark lacks is refused with one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from penstock.errors import DeploymentError
from penstock.spark.features import Feature
from penstock.spark.pipelines import load, run
from penstock.spark.sources import register

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SENTENCE = r"^PV0001: penstock-xml and penstock-feeds need data sources in Python, which Spark has "
SENTENCE += r"since 4\.0, and this is Spark 3\.5\.\d+; [^\n]+$"


def test_every_feature_is_there_from_the_version_that_is_named(spark: SparkSession) -> None:
    found = tuple(map(int, spark.version.split(".")[:2]))
    for feature in Feature:
        since = tuple(map(int, feature.since.split(".")))
        assert feature.is_there == (found >= since), feature


def test_data_sources_are_refused_with_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    if Feature.PYTHON_SOURCES.is_there:
        pytest.skip("this version of Spark has them")
    with pytest.raises(DeploymentError, match=SENTENCE):
        register(spark)
    (tmp_path / "a.xml").write_text("<a/>")
    for source in ("{kind: files, path: a.xml}", "{kind: feeds, urls: ['http://127.0.0.1:9/']}"):
        (tmp_path / "pipeline.yaml").write_text(
            f"sources:\n  - {source}\n"
            "registry: {subscriptions: [{name: a, query: //a}]}\n"
            "sinks: [{kind: console}]\n"
        )
        with pytest.raises(DeploymentError, match=SENTENCE):
            run(load(tmp_path / "pipeline.yaml"), spark)
