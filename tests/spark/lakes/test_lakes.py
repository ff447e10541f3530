"""Delta and Iceberg, each with the release of Spark that it has a jar for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from penstock.sinks import DeltaSink, IcebergSink
from tests.spark.helpers.lake_jars import delta_jars, iceberg_jars, python_with
from tests.spark.helpers.maven import UnavailableError
from tests.spark.helpers.servers import ROOT, surroundings

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SECONDS_MAX = 1800


@pytest.mark.parametrize(("sink", "jars"), [(DeltaSink, delta_jars), (IcebergSink, iceberg_jars)])
def test_a_table_holds_what_the_modes_say_whatever_comes_again(
    sink: type[DeltaSink | IcebergSink], jars: object, tmp_path: Path
) -> None:
    assert callable(jars)
    try:
        python, found = python_with(sink.releases[0]), jars()
    except UnavailableError as error:
        pytest.skip(f"{sink.format} cannot be had: {error}")
    job = [python, "-m", "tests.spark.lakes.job", sink.format]
    done = subprocess.run(
        [*job, ",".join(map(str, found)), str(tmp_path)],
        cwd=ROOT,
        env=surroundings({}),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    said, count = done.stdout.split()[-2:]
    assert said == "done"
    assert int(count) > 40
