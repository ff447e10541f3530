"""On Spark: records of one large file through `penstock-xml` and `match`, and rows in bulk."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import penstock
from benchmarks.runner import progress
from benchmarks.spark_session import OUT
from penstock.spark import match
from penstock.spark.sources import register

RECORDS, RECORD_PATH = 2_000_000, "/orders/order"
RECORDS_PROMISED = 1.4
EVERYTHING = "every column"
BULK_SUBSCRIPTIONS, BULK_DOCUMENTS = 2_000, 4_000
LANGUAGES = ("da", "de", "en", "es", "fr", "it", "nl", "pt")

Timed = Callable[[Callable[[], None]], dict[str, float]]


def write_records(count: int) -> Path:
    """Return a file of small records, written once."""
    path = OUT / f"orders-{count}.xml"
    if not path.exists():
        OUT.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_name(f"{path.name}.tmp-{os.getpid()}")
        with unfinished.open("w", encoding="ascii") as file:
            file.write("<orders>\n")
            file.writelines(
                f"<order id='{n}'><customer>c{n % 997}</customer><total>{n * 7919 % 10_000}</total>"
                f"<city>{'Graz' if n % 5 else 'Lund'}</city></order>\n"
                for n in range(count)
            )
            file.write("</orders>\n")
        unfinished.rename(path)
    return path


def records_registry() -> penstock.Registry:
    """Return ten subscriptions, of which a record matches one in ten or so."""
    registry = penstock.Registry()
    for number in range(10):
        text = f"/order[total > {9_000 + 100 * number} and city = 'Graz']/customer"
        registry.add(f"q{number}", text, mode="filter" if number % 2 else "query")
    return registry


def measure_records(
    spark: Any, is_small: bool, rounds: int, timed: Timed, tools: Any
) -> dict[str, Any]:
    """Return times of `match` over the records of a file, and of doing nothing with them."""
    register(spark)
    count = RECORDS // 10 if is_small else RECORDS
    path, registry = write_records(count), records_registry()

    def read(columns: str | None) -> Any:
        reader = spark.read.format("penstock-xml").option("recordPath", RECORD_PATH)
        reader = reader.option("maxPartitionBytes", "32m")
        return (reader.option("columns", columns) if columns else reader).load(str(path))

    tasks: dict[str, Callable[[], None]] = {}
    for what, columns in (("id and xml", "id,xml"), (EVERYTHING, None)):
        frame = read(columns)
        rows, nothing = match(frame, registry), tools.pass_through(frame)
        tasks |= {
            f"match, {what}": lambda rows=rows: tools.write_nowhere(rows),
            f"nothing, {what}": lambda nothing=nothing: tools.write_nowhere(nothing),
            f"read, {what}": lambda frame=frame: tools.write_nowhere(frame),
        }
    found: dict[str, Any] = {"records": count, "bytes": path.stat().st_size}
    found["results"] = match(read("id,xml"), registry).count()
    found["times"] = {name: [] for name in tasks}
    for number in range(rounds):
        for name, task in tasks.items():
            progress(f"{count:,} records: round {number + 1}/{rounds}, {name}")
            found["times"][name].append(timed(task))
    return found


def bulk_registry() -> penstock.Registry:
    """Return subscriptions of which an eighth finds both categories of a feed's item."""
    registry = penstock.Registry()
    for number in range(BULK_SUBSCRIPTIONS):
        language = LANGUAGES[number % len(LANGUAGES)]
        text = f"/rss/channel[language = '{language}']/item/category[. != 'x{number}']"
        registry.add(f"q{number}", text)
    return registry


def measure_bulk(
    spark: Any, folder: Path, schema: str, rounds: int, timed: Timed, tools: Any
) -> dict[str, Any]:
    """Return times of rows and of rows in bulk, and how many pairs both have."""
    documents = spark.read.schema(schema).parquet(str(folder)).where(f"id < {BULK_DOCUMENTS}")
    registry = bulk_registry()
    frames = {
        "rows": match(documents, registry),
        "bulk": match(documents, registry, rows="bulk"),
        "nothing": tools.pass_through(documents),
    }
    pairs = frames["bulk"].selectExpr("inline(entries)")
    both = "sum(size(subscriptions) * size(fragments))"
    found: dict[str, Any] = {
        "documents": documents.count(),
        "rows": frames["rows"].count(),
        "pairs in bulk": pairs.selectExpr(both).first()[0],
        "times": {name: [] for name in frames},
    }
    for number in range(rounds):
        for name, frame in frames.items():
            progress(f"many matches: round {number + 1}/{rounds}, {name}")
            found["times"][name].append(timed(lambda frame=frame: tools.write_nowhere(frame)))
    return found


def best(runs: list[dict[str, float]], what: str = "core_seconds") -> float:
    """Return the best round."""
    return min(one[what] for one in runs)


def records_ratio(found: dict[str, Any], what: str = "id and xml") -> float:
    """Return the core time of `match` in times of doing nothing with the same columns."""
    times = found["times"]
    return best(times[f"match, {what}"]) / best(times[f"nothing, {what}"])


def records_lines(records: dict[str, Any]) -> list[str]:
    """Return what the records of a file cost, and what was wanted."""
    narrow, wide = records_ratio(records), records_ratio(records, EVERYTHING)
    kept = "kept" if narrow <= RECORDS_PROMISED else "MISSED"
    return [
        f"{records['records']:,} records of one file of {records['bytes'] / 1e6:.0f} MB, "
        f"`penstock-xml` and `match` of 10 subscriptions, {records['results']:,} results. Seconds "
        "of core time (on the clock):",
        "",
        *(
            f"- {name}: {best(runs):.1f} ({best(runs, 'seconds'):.1f})"
            for name, runs in records["times"].items()
        ),
        "",
        f"`match` takes {narrow:.2f} times what nothing takes with the same columns, wanted: at "
        f"most {RECORDS_PROMISED}: {kept}; {wide:.2f} with every column.",
    ]


def bulk_sentence(bulk: dict[str, Any]) -> str:
    """Return what rows in bulk cost beside rows."""
    times = {name: best(runs) for name, runs in bulk["times"].items()}
    is_equal = bulk["rows"] == bulk["pairs in bulk"]
    return (
        f"Many matches: {BULK_SUBSCRIPTIONS:,} subscriptions, {bulk['documents']:,} documents, "
        f"{bulk['rows']:,} rows, in bulk {'the same' if is_equal else 'NOT THE SAME'}: "
        f"{times['rows']:.1f} s of core time as rows, {times['bulk']:.1f} s in bulk "
        f"({times['rows'] / times['bulk']:.1f} times less), {times['nothing']:.1f} s nothing."
    )
