"""Splitting one large file into records: `penstock-xml` beside Spark's XML reader.

Both run on Spark in local mode with two cores, over the same file, into the sink `noop`. Ours
hands over every record as bytes. Spark's reader gets the schema, which spares it a pass for
inference, and hands over every record with all its fields; with one field alone it is measured
as well, for the record. Core time is given beside the time on the clock, because others may use
the machine. What was read is compared outside of the time: records, bytes, and the sum of all
references.
"""

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.cores import core_seconds
from benchmarks.patience import cancelling
from benchmarks.runner import ROOT, machine, progress
from benchmarks.workloads import statement

OUT = ROOT / "out" / "bench"
NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
PATH = "/d:Document/d:BkToCstmrStmt/d:Stmt/d:Ntry"
RATIO_MIN = 3.0
"""Of core time."""
SECONDS_MAX = 900.0
"""For one pass of a reader."""

ALL_FIELDS = """
    NtryRef string, Amt struct<_VALUE:string,_Ccy:string>, CdtDbtInd string, Sts struct<Cd:string>,
    BookgDt struct<Dt:string>, ValDt struct<Dt:string>, AcctSvcrRef string,
    BkTxCd struct<Domn:struct<Cd:string,Fmly:struct<Cd:string,SubFmlyCd:string>>>,
    NtryDtls struct<TxDtls:struct<Refs:struct<EndToEndId:string>,RltdPties:struct<
    Dbtr:struct<Pty:struct<Nm:string>>,DbtrAcct:struct<Id:struct<IBAN:string>>,
    Cdtr:struct<Pty:struct<Nm:string>>>,RmtInf:struct<Ustrd:string>>>
"""
OURS, THEIRS = "penstock-xml", "xml with rowTag"
AROUND = {"message": "//d:GrpHdr/d:MsgId", "statement": "//d:Stmt/d:Id"}


def run(path: Path, warm_up: Path, repeat: int) -> dict[str, Any]:
    """Measure all readers in turn, several times; return seconds and what they found."""
    spark = _session()
    readers: dict[str, Callable[[Path], Any]] = {
        OURS: lambda one: _ours(spark, one),
        f"{OURS}, two ancestors": lambda one: _ours(spark, one, ancestors=AROUND),
        THEIRS: lambda one: _theirs(spark, one, ALL_FIELDS),
        f"{THEIRS}, one field": lambda one: _theirs(spark, one, "NtryRef long"),
    }
    found: dict[str, Any] = {name: {"seconds": [], "core seconds": []} for name in readers}
    for turn in range(repeat + 1):
        for name, reader in readers.items():
            if "error" in found[name]:
                continue
            start, cores = time.perf_counter(), core_seconds()
            try:
                with cancelling(spark, SECONDS_MAX):
                    frame = reader(path if turn else warm_up)
                    frame.write.format("noop").mode("overwrite").save()
            except TimeoutError as error:
                found[name]["error"] = str(error)
                continue
            seconds, cores = time.perf_counter() - start, core_seconds() - cores
            progress(f"{name}: {seconds:.1f} s, {cores:.1f} s on cores")
            if turn:  # the first one warms up
                found[name]["seconds"].append(seconds)
                found[name]["core seconds"].append(cores)
    number = "cast(regexp_extract(cast(xml as string), '<NtryRef>([0-9]+)<', 1) as bigint)"
    ours = _ours(spark, path).selectExpr("count(xml)", f"sum({number})", "sum(length)").first()
    theirs: Any = ()
    if "error" not in found[THEIRS]:
        records = _theirs(spark, path, "NtryRef long")
        theirs = records.selectExpr("count(1)", "sum(NtryRef)").first()
    spark.stop()
    return {"readers": found, "read": {OURS: list(ours), THEIRS: list(theirs)}}


def _ours(spark: Any, path: Path, **options: Any) -> Any:
    reader = (
        spark.read.format("penstock-xml")
        .option("recordPath", PATH)
        .option("namespaces", json.dumps({"d": NAMESPACE}))
        .option("mode", "FAILFAST")
        .option("maxPartitionBytes", "32m")
        .options(**{name: json.dumps(value) for name, value in options.items()})
    )
    return reader.load(str(path))


def _theirs(spark: Any, path: Path, schema: str) -> Any:
    reader = spark.read.format("xml").option("rowTag", "Ntry").option("mode", "FAILFAST")
    return reader.schema(schema).load(str(path))


def judge(result: dict[str, Any], size: int, count: int) -> dict[str, Any]:
    """Return what the measurements say: equal records, and how many times faster."""
    readers = result["readers"]
    medians, cores = (
        {name: statistics.median(one[measure]) for name, one in readers.items() if one[measure]}
        for measure in ("seconds", "core seconds")
    )
    records, references, bytes_records = result["read"][OURS]
    return {
        "bytes": size,
        "entries": count,
        "bytes_records": bytes_records,
        "bytes_between": size - bytes_records,
        "seconds": medians,
        "mb_per_second": {name: size / 1e6 / value for name, value in medians.items()},
        "core_seconds": cores,
        "errors": {name: one["error"] for name, one in readers.items() if "error" in one},
        "ratio": medians[THEIRS] / medians[OURS] if THEIRS in medians else None,
        "core_ratio": cores[THEIRS] / cores[OURS] if THEIRS in cores else None,
        "is_same": records == count and result["read"][THEIRS] in ([], [records, references]),
    }


def main(arguments: list[str]) -> int:
    """Measure, print a table, write JSON; 1 if records differ or the ratio is too small."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks splitting", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "splitting.json")
    parser.add_argument("--small", action="store_true", help="100 MB instead of 1 GB")
    parser.add_argument("--repeat", type=int, default=2, metavar="N", help="rounds (2)")
    options = parser.parse_args(arguments)
    size_mb = 100 if options.small else 1000
    path, warm_up = OUT / f"statement-{size_mb}mb.xml", OUT / "statement-20mb.xml"
    progress(f"document of {size_mb} MB")
    count = statement.write(path, size_mb * 1_000_000)
    statement.write(warm_up, 20_000_000)
    result = run(path, warm_up, options.repeat)
    said = judge(result, path.stat().st_size, count)
    print(f"{count} records, {said['bytes']} bytes = {said['bytes_records']} in records", end="")
    print(f" + {said['bytes_between']} between; the same records: {said['is_same']}")
    for name, seconds in said["seconds"].items():
        rate, cores = said["mb_per_second"][name], said["core_seconds"][name]
        print(f"{name:30} {seconds:8.2f} s {rate:8.1f} MB/s {cores:8.2f} s on cores")
    for name, error in said["errors"].items():
        print(f"{name:30} {error}")
    if said["ratio"] is not None:
        print(
            f"penstock-xml is {said['ratio']:.1f} times as fast and takes "
            f"1/{said['core_ratio']:.1f} of the core time (wanted: 1/{RATIO_MIN:g} at most)"
        )
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        whole = {"command": "python -m benchmarks splitting", "machine": machine()}
        whole |= {"splitting": said, "measured": result}
        options.json.write_text(json.dumps(whole, indent=1) + "\n", "utf-8")
    is_kept = said["core_ratio"] is None or said["core_ratio"] >= RATIO_MIN
    return 0 if said["is_same"] and is_kept else 1


def _session() -> Any:
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    from penstock.spark.sources import register

    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "2g")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    register(spark)
    return spark


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
