"""A Spark session on this machine, and small documents in Parquet files for it."""

import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.runner import ROOT, progress
from benchmarks.workloads import messages

OUT = ROOT / "out" / "bench"
CORES = 2
FILES = 8
SCHEMA = "id long, xml binary"


def start_session() -> Any:
    """Return a Spark session on two cores; its workers run this interpreter."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{CORES}]").appName("penstock benchmark")
    for key, value in (
        ("spark.ui.enabled", "false"),
        ("spark.ui.showConsoleProgress", "false"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.memory", "2g"),
        ("spark.sql.warehouse.dir", str(OUT / "warehouse")),
    ):
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def prepare_documents(count: int) -> Path:
    """Return a folder with the documents in Parquet files, written once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = OUT / f"messages-{messages.SEED}-{count}"
    if folder.exists():
        return folder
    progress(f"writing {count} documents")
    unfinished = folder.with_name(f"{folder.name}.tmp-{os.getpid()}")
    unfinished.mkdir(parents=True)
    data = pa.table(
        {"id": pa.array(range(count)), "xml": pa.array(messages.documents(count), pa.binary())}
    )
    share = -(-count // FILES)
    for number in range(FILES):
        part = data.slice(number * share, share)
        pq.write_table(part, unfinished / f"{number}.parquet")
    unfinished.rename(folder)
    return folder
