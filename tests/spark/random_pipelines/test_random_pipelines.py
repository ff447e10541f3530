"""Random pipelines leave what the engine finds in process, and count and end as it says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.spark.random_pipelines.checking import check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_pipeline_agrees_with_the_engine(
    spark: SparkSession, tmp_path: Path, seed: int
) -> None:
    assert check(seed, tmp_path, spark) == ""
