"""Seeds are checked: what differs is reported with the smallest pipeline that shows it."""

from __future__ import annotations

from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from tests.spark.random_pipelines.cases import PipelineCase
from tests.spark.random_pipelines.generate import random_case
from tests.spark.random_pipelines.minimise import minimise
from tests.spark.random_pipelines.running import Difference, differences

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def check(seed: int, folder: Path, spark: SparkSession) -> str:
    """Return nothing if the pipeline of a seed agrees with the model, else a report."""

    def found(case: PipelineCase) -> list[Difference]:
        return list(differences(case, Path(mkdtemp(dir=folder)), spark))

    case = random_case(seed)
    first = found(case)
    if not first:
        return ""
    kinds = {one.what for one in first}
    smallest = minimise(case, lambda smaller: any(one.what in kinds for one in found(smaller)))
    lines = [smallest.describe(), "differences:", *(one.describe() for one in found(smallest))]
    return "\n".join(lines)
