"""One reader of statements in a process of its own: `tables_child READER FILE PARQUET`."""

import hashlib
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

URI = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"
ROWS = 16_384
COLUMNS: dict[str, Any] = {
    "message": "../../GrpHdr/MsgId",
    "created": ("../../GrpHdr/CreDtTm", "timestamp"),
    "statement": "../Id",
    "account": "../Acct/Id/IBAN",
    "number": ("NtryRef", "integer"),
    "amount": ("Amt", "decimal(18,2)"),
    "currency": "Amt/@Ccy",
    "side": "CdtDbtInd",
    "booked": ("BookgDt/Dt", "date"),
    "valued": ("ValDt/Dt", "date"),
    "end_to_end": "NtryDtls/TxDtls/Refs/EndToEndId",
    "debtor": "NtryDtls/TxDtls/RltdPties/Dbtr/Pty/Nm",
}
SCHEMA = pa.schema(
    [
        ("message", pa.string()),
        ("created", pa.timestamp("us", "UTC")),
        ("statement", pa.string()),
        ("account", pa.string()),
        ("number", pa.int64()),
        ("amount", pa.decimal128(18, 2)),
        ("currency", pa.string()),
        ("side", pa.string()),
        ("booked", pa.date32()),
        ("valued", pa.date32()),
        ("end_to_end", pa.string()),
        ("debtor", pa.string()),
    ]
)
_SPARK_SCHEMA = """
    NtryRef long, Amt struct<_VALUE:decimal(18,2),_Ccy:string>, CdtDbtInd string,
    BookgDt struct<Dt:date>, ValDt struct<Dt:date>,
    NtryDtls struct<TxDtls:struct<Refs:struct<EndToEndId:string>,
    RltdPties:struct<Dbtr:struct<Pty:struct<Nm:string>>>>>
"""


def penstock_reader(path: Path, out: Path) -> dict[str, float]:
    """Write the table with Penstock."""
    import penstock

    registry = penstock.Registry()
    query = penstock.table(
        "/Document/BkToCstmrStmt/Stmt/Ntry", COLUMNS, namespaces={"": URI}, on_error="raise"
    )
    registry.add("entries", query)
    engine = penstock.Engine(registry)
    engine.table(path.with_name("statement-1mb.xml"))
    return _measured(lambda: _write(engine.table_batches(path), out))


def lxml_reader(path: Path, out: Path) -> dict[str, float]:
    """Write the table with a loop over lxml's iterparse."""
    from lxml import etree

    del etree
    return _measured(lambda: _write(_lxml_batches(path), out))


def spark_reader(path: Path, out: Path) -> dict[str, float]:
    """Write the table with Spark's XML reader."""
    from benchmarks.cores import core_seconds
    from benchmarks.spark_session import start_session

    spark = start_session()
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    _spark_write(spark, path.with_name("statement-1mb.xml"), out)
    before = core_seconds()
    _spark_write(spark, path, out)
    seconds = core_seconds() - before
    spark.stop()
    return {"core_seconds": seconds}


READERS: dict[str, Callable[[Path, Path], dict[str, float]]] = {
    "penstock": penstock_reader,
    "lxml": lxml_reader,
    "spark": spark_reader,
}


def _measured(work: Callable[[], None]) -> dict[str, float]:
    resident, seconds = _resident_kb(), time.process_time()
    work()
    seconds = time.process_time() - seconds
    return {"core_seconds": seconds, "memory_mb": (_resident_kb() - resident) / 1024}


def _resident_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _write(batches: Iterator[pa.RecordBatch], out: Path) -> None:
    with pq.ParquetWriter(out, SCHEMA) as writer:
        for batch in batches:
            writer.write_batch(batch)


def _lxml_batches(path: Path) -> Iterator[pa.RecordBatch]:
    from lxml import etree

    def name(path: str) -> str:
        return "/".join(f"{{{URI}}}{part}" for part in path.split("/"))

    message = created = identity = account = None
    rows: list[tuple[Any, ...]] = []
    tags = [name(part) for part in ("GrpHdr", "Id", "Acct", "Ntry")]
    group, id_tag, account_tag, entry = tags
    amount_tag, booked, valued = name("Amt"), name("BookgDt/Dt"), name("ValDt/Dt")
    reference, side = name("NtryRef"), name("CdtDbtInd")
    end_to_end = name("NtryDtls/TxDtls/Refs/EndToEndId")
    debtor = name("NtryDtls/TxDtls/RltdPties/Dbtr/Pty/Nm")
    for _, element in etree.iterparse(str(path), events=("end",), tag=tags):
        if element.tag == entry:
            amount = element.find(amount_tag)
            rows.append(
                (
                    message,
                    created,
                    identity,
                    account,
                    int(element.findtext(reference)),
                    Decimal(amount.text),
                    amount.get("Ccy"),
                    element.findtext(side),
                    date.fromisoformat(element.findtext(booked)),
                    date.fromisoformat(element.findtext(valued)),
                    element.findtext(end_to_end),
                    element.findtext(debtor),
                )
            )
            element.clear(keep_tail=True)
            while element.getprevious() is not None:
                del element.getparent()[0]
            if len(rows) == ROWS:
                yield _batch(rows)
                rows = []
        elif element.tag == group:
            message = element.findtext(name("MsgId"))
            created = datetime.fromisoformat(element.findtext(name("CreDtTm"))).replace(tzinfo=UTC)
        elif element.tag == account_tag:
            account = element.findtext(name("Id/IBAN"))
        elif element.tag == id_tag and element.getparent().tag == name("Stmt"):
            identity = element.text
    if rows:
        yield _batch(rows)


def _batch(rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    columns = zip(*rows, strict=True)
    arrays = [pa.array(one, field.type) for one, field in zip(columns, SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=SCHEMA)


def _spark_write(spark: Any, path: Path, out: Path) -> None:
    from pyspark.sql import functions as f

    reader = spark.read.format("xml").option("rowTag", "Ntry").option("mode", "FAILFAST")
    reader = reader.option("ignoreSurroundingSpaces", "false")
    details = "NtryDtls.TxDtls"
    frame = (
        reader.schema(_SPARK_SCHEMA)
        .load(str(path))
        .select(
            f.lit("M-1").alias("message"),
            f.lit("2024-04-17T06:00:00Z").cast("timestamp").alias("created"),
            f.lit("S-1").alias("statement"),
            f.lit("DE00123456780000000001").alias("account"),
            f.col("NtryRef").alias("number"),
            f.col("Amt._VALUE").alias("amount"),
            f.col("Amt._Ccy").alias("currency"),
            f.col("CdtDbtInd").alias("side"),
            f.col("BookgDt.Dt").alias("booked"),
            f.col("ValDt.Dt").alias("valued"),
            f.col(f"{details}.Refs.EndToEndId").alias("end_to_end"),
            f.col(f"{details}.RltdPties.Dbtr.Pty.Nm").alias("debtor"),
        )
    )
    frame.write.mode("overwrite").parquet(str(out))


def digest_of(path: Path) -> str:
    """Return a hash of the rows of a table, in the order of their numbers."""
    table = pq.read_table(path)
    table = table.cast(SCHEMA).sort_by("number").combine_chunks()
    found = hashlib.sha256()
    for batch in table.to_batches(max_chunksize=1 << 16):
        found.update(repr(batch.to_pydict()).encode())
    return found.hexdigest()


def read_answer(text: str) -> dict[str, Any]:
    """Return what a child printed last."""
    answer: dict[str, Any] = json.loads(text.splitlines()[-1])
    return answer


def main(arguments: list[str]) -> int:
    """Read a file and print what it took."""
    name, path, out = arguments[0], Path(arguments[1]), Path(arguments[2])
    answer: dict[str, Any] = READERS[name](path, out)
    answer["digest"] = digest_of(out)
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
