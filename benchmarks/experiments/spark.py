"""Subscriptions on Spark beside the engine alone, a function that does nothing, and xpath_boolean.

All of it runs in one Spark session, on two cores, over the same Parquet files. Core time is what
Spark's Java and Python processes together spend on cores. The engine alone runs as two processes
at once, so that it shares the cores' caches and memory as Spark's workers do.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import penstock
from benchmarks.cores import core_seconds
from benchmarks.experiments import spark_forms
from benchmarks.patience import cancelling
from benchmarks.report import table
from benchmarks.runner import machine, progress
from benchmarks.spark_session import CORES, OUT, SCHEMA, prepare_documents, start_session
from benchmarks.workloads import messages
from penstock.kernel import Plan, Session
from penstock.spark import match

SUBSCRIPTIONS = (1, 100, 10_000, 100_000)
PROMISED = {"subscriptions": 10_000, "core time": 1.15, "xpath_boolean": 100.0}
PARTS = ("subscriptions", "records", "bulk", "xpath_boolean")
XPATH_SUBSCRIPTIONS = 100
XPATH_SECONDS_MAX = 900.0
BATCH_DOCUMENTS = 4096


def run(is_small: bool, rounds: int, parts: Sequence[str] = PARTS) -> dict[str, Any]:
    """Measure the parts that are asked for and return what was seen."""
    documents = 20_000 if is_small else 200_000
    folder = prepare_documents(documents)
    spark = start_session()
    result: dict[str, Any] = {
        "documents": documents,
        "bytes": sum(len(data) for data in messages.documents(documents)),
        "cores": CORES,
        "rounds": rounds,
    }
    tools = SimpleNamespace(write_nowhere=write_nowhere, pass_through=pass_through)
    if "subscriptions" in parts:
        counts = SUBSCRIPTIONS[:3] if is_small else SUBSCRIPTIONS
        result["subscriptions"] = measure_counts(spark, documents, counts, rounds)
    if "records" in parts:
        result["records"] = spark_forms.measure_records(spark, is_small, rounds, timed, tools)
    if "bulk" in parts:
        result["bulk"] = spark_forms.measure_bulk(spark, folder, SCHEMA, rounds, timed, tools)
    if "xpath_boolean" in parts:
        try:
            with cancelling(spark, XPATH_SECONDS_MAX):
                count = 200 if is_small else 4000
                result["xpath_boolean"] = compare_xpath(spark, folder, count)
        except TimeoutError as error:
            result["xpath_boolean"] = {"error": str(error)}
    spark.stop()
    return result


def measure_counts(
    spark: Any, documents: int, counts: Sequence[int], rounds: int
) -> dict[str, Any]:
    """Return times by the number of subscriptions; the largest number reads fewer documents."""
    texts = list(messages.queries(max(counts)))
    found = {}
    for count in counts:
        progress(f"compiling {count} subscriptions")
        registry = penstock.Registry()
        for number, text in enumerate(texts[:count]):
            registry.add(f"q{number}", text)
        is_promised = count == PROMISED["subscriptions"]
        read = documents // 5 if count > PROMISED["subscriptions"] else documents
        times = measure(spark, prepare_documents(read), registry, rounds if is_promised else 1)
        found[str(count)] = {"documents": read, **times}
    return found


def measure(spark: Any, folder: Path, registry: penstock.Registry, rounds: int) -> dict[str, Any]:
    """Return times of batch, stream, doing nothing and the engine alone, taking turns."""
    documents = spark.read.schema(SCHEMA).parquet(str(folder))
    rows = match(documents, registry)
    nothing = pass_through(documents)
    streams = {
        "stream": lambda: run_stream(spark, folder, lambda frame: match(frame, registry)),
        "stream, nothing": lambda: run_stream(spark, folder, pass_through),
    }
    tasks: dict[str, Callable[[], None]] = {
        "batch": lambda: write_nowhere(rows),
        "batch, nothing": lambda: write_nowhere(nothing),
        **streams,
    }
    image = registry.snapshot().plan.image()
    found: dict[str, Any] = {name: [] for name in tasks} | {"engine alone": []}
    found["results"] = rows.count()  # warms the workers' sessions too
    for name, task in tasks.items():
        progress(f"{len(registry)} subscriptions: warming {name}")
        task()
    for number in range(rounds):
        for name, task in tasks.items():
            progress(f"{len(registry)} subscriptions: round {number + 1}/{rounds}, {name}")
            found[name].append(timed(task))
        progress(f"{len(registry)} subscriptions: round {number + 1}/{rounds}, engine alone")
        found["engine alone"].append(run_alone(folder, image))
    return found


def timed(task: Callable[[], None]) -> dict[str, float]:
    """Return the seconds that a task takes, by the clock and on cores."""
    core, clock = core_seconds(), time.perf_counter()
    task()
    return {"seconds": time.perf_counter() - clock, "core_seconds": core_seconds() - core}


def write_nowhere(rows: Any) -> None:
    """Compute a DataFrame and drop it."""
    rows.write.format("noop").mode("overwrite").save()


def run_stream(spark: Any, folder: Path, change: Callable[[Any], Any]) -> None:
    """Read the files as a stream, one in each micro-batch."""
    reader = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1)
    rows = change(reader.parquet(str(folder)))
    query = rows.writeStream.format("noop").trigger(availableNow=True).start()
    query.awaitTermination()


def pass_through(documents: Any) -> Any:
    """Return a DataFrame after a function that does nothing."""

    # Inside, so that it travels by value: workers need not find this module.
    def give_back(batches: Iterator[Any]) -> Iterator[Any]:
        yield from batches

    return documents.mapInArrow(give_back, documents.schema)


def run_alone(folder: Path, image: bytes) -> dict[str, float]:
    """Return the time of the kernel alone, in as many processes as there are cores."""
    context = multiprocessing.get_context("spawn")
    files = sorted(folder.glob("*.parquet"))
    barrier, replies = context.Barrier(CORES), context.Queue()
    workers = [
        context.Process(target=_read_alone, args=(files[part::CORES], image, barrier, replies))
        for part in range(CORES)
    ]
    for worker in workers:
        worker.start()
    times = [replies.get() for _ in workers]
    for worker in workers:
        worker.join()
    return {
        "seconds": max(seconds for seconds, _ in times),
        "core_seconds": sum(core for _, core in times),
    }


def _read_alone(files: list[Path], image: bytes, barrier: Any, replies: Any) -> None:
    import pyarrow.parquet as pq

    session = Session(Plan.load(image))
    batches = []
    for file in files:
        data = pq.read_table(file).column("xml").to_pylist()
        for start in range(0, len(data), BATCH_DOCUMENTS):
            part = data[start : start + BATCH_DOCUMENTS]
            batches.append([(document, None, "default") for document in part])
    session.read(batches[0])
    session.take().columns()
    barrier.wait()
    clock, core = time.perf_counter(), time.process_time()
    for batch in batches:
        session.read(batch)
        session.take().columns()
    replies.put((time.perf_counter() - clock, time.process_time() - core))


def compare_xpath(spark: Any, folder: Path, count: int) -> dict[str, Any]:
    """Return the time of Spark's own function for the same questions, and whether answers agree."""
    from pyspark.sql import functions as f

    texts = list(messages.queries(XPATH_SUBSCRIPTIONS))
    registry = penstock.Registry()
    for number, text in enumerate(texts):
        registry.add(f"q{number}", text, mode="filter")
    everything = spark.read.schema(SCHEMA).parquet(str(folder))
    few = everything.where(f.col("id") < count).repartition(CORES).cache()
    text = few.select("id", f.decode("xml", "utf-8").alias("text"))
    answers = [
        f.xpath_boolean("text", f.lit(query)).alias(f"q{number}")
        for number, query in enumerate(texts)
    ]
    theirs = text.select("id", *answers)
    progress(f"xpath_boolean over {few.count()} documents")
    asked = {
        (str(row["id"]), f"q{number}")
        for row in theirs.collect()
        for number in range(len(texts))
        if row[f"q{number}"]
    }
    ours = {(row["document"], row["subscription"]) for row in match(few, registry).collect()}
    rows = match(everything, registry)
    write_nowhere(rows)
    return {
        "subscriptions": len(texts),
        "documents": count,
        "matches": len(asked),
        "agrees": asked == ours,
        "xpath_boolean": timed(lambda: write_nowhere(theirs)),
        "penstock": timed(lambda: write_nowhere(rows)),
        "penstock_documents": everything.count(),
    }


def per_document(runs: list[dict[str, float]], documents: int, what: str) -> float:
    """Return microseconds for each document in the best round."""
    return min(one[what] for one in runs) / documents * 1e6


def ratios(measured: dict[str, Any]) -> dict[str, float]:
    """Return what was promised, as far as it was measured."""
    found = {}
    for count, times in measured.get("subscriptions", {}).items():
        one = {
            name: per_document(times[name], times["documents"], "core_seconds")
            for name in ("batch", "batch, nothing", "engine alone")
        }
        found[count] = one["batch"] / (one["batch, nothing"] + one["engine alone"])
    if "records" in measured:
        found["records"] = spark_forms.records_ratio(measured["records"])
    xpath = measured.get("xpath_boolean", {"error": "not measured"})
    if "error" in xpath:
        return found
    theirs = xpath["xpath_boolean"]["core_seconds"] / xpath["documents"]
    ours = xpath["penstock"]["core_seconds"] / xpath["penstock_documents"]
    return found | {"xpath_boolean": theirs / ours}


def missed(measured: dict[str, Any]) -> list[str]:
    """Return the names of the ratios that are not as promised."""
    found = ratios(measured)
    most = {str(PROMISED["subscriptions"]): PROMISED["core time"]}
    most["records"] = spark_forms.RECORDS_PROMISED
    wrong = [name for name, bound in most.items() if found.get(name, 0.0) > bound]
    least = PROMISED["xpath_boolean"]
    return wrong + ["xpath_boolean"] * (found.get("xpath_boolean", least) < least)


def page(result: dict[str, Any]) -> str:
    """Return the measurements as Markdown."""
    measured, documents = result["spark"], result["spark"]["documents"]
    size = measured["bytes"] / documents
    machine = result["machine"]
    lines = [
        "# Subscriptions on Spark",
        "",
        f"`{result['command']}`: {documents:,} documents of {size:.0f} bytes, "
        f"local[{measured['cores']}], {machine['processor']}, load {machine['load']:.1f}, "
        f"revision {machine['revision']}.",
        "",
    ]
    if "subscriptions" in measured:
        lines += [*subscriptions_lines(measured), ""]
    if "records" in measured:
        lines += [*spark_forms.records_lines(measured["records"]), ""]
    if "bulk" in measured:
        lines += [spark_forms.bulk_sentence(measured["bulk"]), ""]
    if "xpath_boolean" in measured:
        lines += [xpath_sentence(measured["xpath_boolean"], ratios(measured)), ""]
    return "\n".join(lines)


def subscriptions_lines(measured: dict[str, Any]) -> list[str]:
    """Return the table by the number of subscriptions, and what was promised."""
    names = ("batch", "batch, nothing", "engine alone", "stream", "stream, nothing")
    found, rows = ratios(measured), []
    for count, times in measured["subscriptions"].items():
        read = times["documents"]
        cores = [f"{per_document(times[name], read, 'core_seconds'):.1f}" for name in names]
        speeds = [
            f"{read / min(one['seconds'] for one in times[name]):,.0f}"
            for name in ("batch", "stream")
        ]
        share = f"{times['results'] / read:.2f}"
        rows.append([f"{int(count):,}", f"{read:,}", *cores, *speeds, share, f"{found[count]:.2f}"])
    head = [
        "subscriptions",
        "documents",
        *names,
        "batch docs/s",
        "stream docs/s",
        "results/doc",
        "ratio",
    ]
    return [
        "Microseconds of core time for each document, warm, best round. `nothing` is a function "
        "that returns its input. `ratio` is batch / (batch, nothing + engine alone); wanted at "
        f"{PROMISED['subscriptions']:,}: at most {PROMISED['core time']}.",
        "",
        *table(head, rows),
        "",
        wanted_sentence(found),
    ]


def wanted_sentence(found: dict[str, float]) -> str:
    """Return the promised ratio beside the measured one."""
    count = PROMISED["subscriptions"]
    measured, wanted = found[str(count)], PROMISED["core time"]
    kept = "kept" if measured <= wanted else "MISSED"
    return f"{count:,} subscriptions: {measured:.2f} measured, {wanted} wanted: {kept}."


def xpath_sentence(xpath: dict[str, Any], found: dict[str, float]) -> str:
    """Return what was seen of Spark's own function, or why nothing was."""
    if "error" in xpath:
        return f"Spark's `xpath_boolean`: {xpath['error']}."
    return (
        f"Spark's `xpath_boolean`, {xpath['subscriptions']} subscriptions, "
        f"{xpath['documents']:,} documents, {xpath['matches']} matches, answers "
        f"{'equal' if xpath['agrees'] else 'DIFFERENT'}: "
        f"{xpath['xpath_boolean']['core_seconds'] / xpath['documents'] * 1e6:,.0f} µs of core "
        f"time a document, {found['xpath_boolean']:.0f} × Penstock's; promised: at least "
        f"{PROMISED['xpath_boolean']:.0f}."
    )


def write(result: dict[str, Any], path: Path) -> None:
    """Write the measurements, and the page beside them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    path.with_suffix(".md").write_text(page(result), "utf-8")


def main(arguments: list[str]) -> int:
    """Measure, print the page, write the files that were asked for; 1 if a promise is missed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks spark", description=__doc__)
    parser.add_argument("--json", type=Path, nargs="?", const=OUT / "spark.json")
    parser.add_argument("--small", action="store_true", help="20,000 documents")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="rounds (3)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="all of them")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error("--repeat needs at least one round")
    result = {
        "command": " ".join(["python -m benchmarks spark", *arguments]),
        "machine": machine(),
        "spark": run(options.small, options.repeat, options.parts),
    }
    print(page(result))
    if options.json:
        write(result, options.json)
    return 1 if missed(result["spark"]) else 0
