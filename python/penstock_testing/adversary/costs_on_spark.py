"""The attack on costs through Spark: workers with 1 GiB of address space and the default limits.

Each case is a job of its own, ``match`` or ``join``, in one session after the other's end, so that
workers live through many cases, as those of a cluster do. Spark itself gives the Python workers
their bound (``spark.executor.pyspark.memory``), and each case begins with a look whether it holds.
The JVM has its own heap and is not what is tested: where batch joins evaluate SQL there, rows are
bounded by nothing but patience.

Measured are the core time of the Python workers, which read the documents, and the time of the
whole job on the wall. Rows are counted where they are made, by subscription.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.engine import Engine
from penstock.registry import MemoryRegistry
from penstock.results import Document
from penstock_testing.adversary.costs.cases import Case, parsed
from penstock_testing.adversary.costs.generators import write_case
from penstock_testing.adversary.report import Failure, Measure, Spent, Tally

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

ADDRESS_BYTES_MAX = 1 << 30
COMPARED_EVERY = 5
"""One case of so many is compared with the engine."""
_SETTINGS = {
    "spark.executor.pyspark.memory": "1g",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
}
_MESSAGE_MAX = 2_000
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")

Counts = dict[str | None, tuple[int, int]]
"""By subscription, None for documents that failed: how many rows, and how many error rows."""


def attack(seed: int, count: int) -> Tally:
    """Try the cases of so many seeds, and return what was found and measured."""
    tally = Tally()
    spark = _session()
    for number in range(seed, seed + count):
        _try(spark, number, tally)
    return tally


@cache
def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[1]").appName("costs")
    for key, value in _SETTINGS.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    # Workers import what they need once, which is no cost of a case.
    match_all(session, Case("", (("//a", "query"),), (b"<r/>",), b"<r/>", "run")).collect()
    return session


def _try(spark: SparkSession, seed: int, tally: Tally) -> None:
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    case = write_case(seed)
    tally.cases += 1
    assert _bounds(spark) == {ADDRESS_BYTES_MAX}, "the workers have no bound"
    started = time.perf_counter(), _worker_seconds()
    try:
        counts = _counted(match_all(spark, case))
    except (Py4JJavaError, PySparkException) as error:
        reason = f"{str(error)[:_MESSAGE_MAX]}\n{case.describe()}"
        tally.failures.append(Failure("panic", seed, reason))
        return
    spent = Spent(time.perf_counter() - started[0], _worker_seconds() - started[1])
    has_failed = any(errors for _, errors in counts.values())
    tally.non_empty += any(rows for rows, _ in counts.values())
    tally.deviations["some error" if has_failed else "no error"] += 1
    tally.measures.append(Measure(seed, spent, _worker_bytes(), "error" if has_failed else ""))
    if seed % COMPARED_EVERY == 0 and (wrong := _against_engine(case, counts)):
        tally.failures.append(Failure("wrong", seed, f"{wrong}\n{case.describe()}"))


def match_all(spark: SparkSession, case: Case) -> DataFrame:
    """Return the rows of a case: of its joins if it has some, otherwise of its queries."""
    from penstock.spark import join, match

    documents = [
        (str(number), bytearray(data), float(number)) for number, data in enumerate(case.documents)
    ]
    frame = spark.createDataFrame(documents, "id string, xml binary, seconds double").coalesce(1)
    frame = frame.selectExpr("id", "xml", "timestamp_seconds(seconds) AS time")
    evaluate = join if _has_joins(case) else match
    return evaluate(frame, _registry(case), time="time")


def _has_joins(case: Case) -> bool:
    return any(query.startswith("SELECT") for query, _ in case.questions)


def _registry(case: Case) -> MemoryRegistry:
    """Return what one call evaluates: the joins of a case, or all if it has none."""
    joins = _has_joins(case)
    registry = MemoryRegistry()
    for number, (query, mode) in enumerate((*case.questions, *case.fillers)):
        if not joins or query.startswith("SELECT"):
            registry.add(f"q{number}", parsed(query), mode)
    return registry


def _counted(rows: DataFrame) -> Counts:
    grouped = rows.selectExpr("subscription", "int(kind = 'error') AS failed").groupBy(
        "subscription"
    )
    counted = grouped.agg({"failed": "sum", "*": "count"}).collect()
    return {name: (rows - failed, failed) for name, rows, failed in map(_ordered, counted)}


def _ordered(row: Any) -> tuple[str | None, int, int]:
    return row["subscription"], row["count(1)"], row["sum(failed)"]


def _against_engine(case: Case, counts: Counts) -> str:
    """Compare the counts with the engine's; memory is measured, so who failed may differ."""
    engine = Engine(_registry(case), suspend_after=None)
    expected: dict[str | None, list[int]] = {}
    documents = [
        Document(data, str(number), time=float(number))
        for number, data in enumerate(case.documents)
    ]
    for rows in engine.steps(documents):
        for row in rows:
            expected.setdefault(row.subscription, [0, 0])[row.is_error] += 1
    if None in expected or None in counts:
        return ""
    names = sorted({*expected, *counts} - {None}, key=str)
    for name in names:
        ours, theirs = counts.get(name, (0, 0)), tuple(expected.get(name, (0, 0)))
        if ours != theirs and not (ours[1] or theirs[1]):
            return f"{name} has {ours[0]} rows on Spark, {theirs[0]} in the engine"
    return ""


def _bounds(spark: SparkSession) -> set[int]:
    """Return the address space that workers may have."""

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import resource

        import pyarrow

        for _ in batches:
            most, _ = resource.getrlimit(resource.RLIMIT_AS)
            yield pyarrow.RecordBatch.from_pydict({"most": [most]})

    return {row["most"] for row in spark.range(1).mapInArrow(look, "most long").collect()}


def _workers() -> list[tuple[Path, list[str]]]:
    """Return the Python workers of this process, and its JVM: folders in /proc and fields.

    The fields are those behind the name: state, parent …
    """
    processes: dict[int, tuple[Path, list[str]]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            processes[int(folder.name)] = folder, fields
    below = {os.getpid()}
    while new := {pid for pid, (_, fields) in processes.items() if int(fields[1]) in below} - below:
        below |= new
    return [processes[pid] for pid in below - {os.getpid()}]


def _worker_seconds() -> float:
    """Return the core time of the Python workers, of those that ended as well."""
    ticks = 0
    for folder, fields in _workers():
        own, children = fields[11:13], fields[13:15]
        ticks += sum(map(int, children if _is_java(folder) else own + children))
    return ticks / _TICKS_PER_SECOND


def _worker_bytes() -> int:
    """Return the most memory that a living worker has had."""
    most = 0
    for folder, _ in _workers():
        try:
            if not _is_java(folder):
                status = (folder / "status").read_text()
                most = max(most, int(status.partition("VmHWM:")[2].split()[0]) << 10)
        except (OSError, IndexError):
            continue
    return most


def _is_java(folder: Path) -> bool:
    try:
        return b"java" in (folder / "cmdline").read_bytes().partition(b"\0")[0]
    except OSError:
        return False
