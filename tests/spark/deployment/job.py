"""A driver with the package, and workers without it: what they say, and what they do once shipped.

`python job.py MASTER FOLDER` in a process without PYTHONPATH, so that workers inherit nothing.
It prints one line of JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "python"), str(ROOT)]

import penstock  # noqa: E402  # it is found only now
from penstock.errors import DeploymentError  # noqa: E402
from penstock.spark import join, join_stream, match, ship  # noqa: E402
from penstock.spark.features import Feature  # noqa: E402
from penstock.spark.pipelines import load, run  # noqa: E402
from penstock.spark.sources import register  # noqa: E402
from tests.spark.helpers.items import item_registry  # noqa: E402
from tests.spark.helpers.job import documents, identity, joining  # noqa: E402
from tests.waiting import wait_until  # noqa: E402

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "id long, xml binary"
EXECUTORS = 2
NAMES = ("document", "subscription", "ordinal", "kind", "value")
PIPELINE = """\
sources:
  - {kind: spark, format: parquet, path: in, schema: "id long, xml binary", document: xml, id: id}
registry: {subscriptions: [{name: titles, query: /item/title}]}
sinks: [{kind: parquet, path: out/titles}]
trigger: available_now
checkpoint: out/checkpoint
"""


def start(master: str, folder: Path) -> SparkSession:
    """Return a session; the Python of its workers is that of PYSPARK_PYTHON."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master)
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "512m",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def executors(spark: SparkSession) -> int:
    """Return how many executors an application has now, beside its driver."""
    return spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1


def sentence(call: Any) -> str:
    """Return what a call says that must fail."""
    try:
        call()
    except DeploymentError as error:
        return str(error)
    return ""


def ended(rows: DataFrame, folder: Path, name: str) -> None:
    """Run a stream to its end, into files."""
    writer = rows.writeStream.format("parquet").trigger(availableNow=True)
    checkpoint = str(folder / f"{name}.checkpoint")
    writer.option("checkpointLocation", checkpoint).start(str(folder / name)).awaitTermination()


def engine_rows(registry: penstock.Registry, **timed: str) -> list[list[Any]]:
    """Return the rows of the engine in this process; all documents are of the same stream."""
    source = [
        penstock.Document(data, id=str(number), time=float(number) if timed else None, **timed)
        for number, data in documents()
    ]
    return sorted(
        identity({key: getattr(row, key) for key in NAMES})
        for row in penstock.Engine(registry).run(source)
    )


def titles() -> penstock.Registry:
    """Return the registry of the pipeline."""
    registry = penstock.Registry()
    registry.add("titles", "/item/title")
    return registry


def work(spark: SparkSession, folder: Path) -> dict[str, bool]:
    """Return whether everything that runs on workers gives what it should."""
    wanted = engine_rows(item_registry())
    table = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    found: dict[str, bool] = {}
    batch = sorted(identity(row) for row in match(table, item_registry()).collect())
    found["match"] = batch == wanted
    stream = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
    ended(match(stream, item_registry()), folder, "matched")
    rows = spark.read.parquet(str(folder / "matched")).collect()
    found["match stream"] = sorted(map(identity, rows)) == wanted

    timed = "*", "timestamp_seconds(id) AS ts", "'S' AS stream"
    joined = join(table.selectExpr(*timed), joining(), time="ts", stream="stream").collect()
    found["join"] = sorted(map(identity, joined)) == engine_rows(joining(), stream="S")
    into = folder / "joined"
    query = join_stream(
        stream.selectExpr(*timed),
        joining(),
        folder / "state",
        into,
        time="ts",
        stream="stream",
        lateness=0,
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    found["join_stream"] = spark.read.parquet(str(into)).count() > 0
    (folder / "pipeline.yaml").write_text(PIPELINE)
    outcome = run(load(folder / "pipeline.yaml"), spark)
    results = [row for row in engine_rows(titles()) if row[3] != "error"]
    found["pipeline"] = outcome.results == len(results) > 0
    if Feature.PYTHON_SOURCES.is_there:
        (folder / "files").mkdir()
        for number in range(3):
            (folder / f"files/{number}.xml").write_text(f"<r><i>{number}</i><i/></r>")
        register(spark)
        xml = spark.read.format("penstock-xml").option("recordPath", "//i")
        found["penstock-xml"] = xml.load(str(folder / "files")).count() == 6
    return found


def main(master: str, folder: Path) -> None:
    """Say what happens without the package and with it, in two sessions after each other."""
    spark = start(master, folder)
    rows = spark.createDataFrame(documents(), SCHEMA).repartition(4)
    rows.write.parquet(str(folder / "in"))
    told: dict[str, Any] = {"without": sentence(lambda: match(rows, item_registry()))}
    if Feature.PYTHON_SOURCES.is_there:
        told["source without"] = sentence(lambda: register(spark))
    ship(spark)
    ship(spark)
    (folder / "shipped").touch()
    wait_until(lambda: executors(spark) >= EXECUTORS, "all executors are there")
    told["with"] = work(spark, folder)
    spark.stop()

    spark = start(master, folder)
    table = spark.read.schema(SCHEMA).parquet(str(folder / "in"))
    told["anew without"] = sentence(lambda: match(table, item_registry()))
    ship(spark)
    told["anew"] = match(table, item_registry()).count() > 0
    spark.stop()
    print(json.dumps(told))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
