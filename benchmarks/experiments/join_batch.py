"""Items joined in this process, on Spark in our two ways, and by one Spark SQL query each.

All read the same items and answer the same queries, extraction included; times are core time of
Spark's Java and Python processes together, after a warm-up over some items of each file. One SQL
query each is measured for some queries and scaled up to all of them.
"""

from collections import Counter
from collections.abc import Callable
from operator import itemgetter
from pathlib import Path
from typing import Any

import penstock
from benchmarks.experiments.spark import timed, write_nowhere
from benchmarks.joiners import Compiled, ItemRun
from benchmarks.peers import spark_joins
from benchmarks.runner import progress
from benchmarks.spark_session import OUT, start_session
from benchmarks.workloads import joins as workload
from papers.mmqjp.spark import join_sql, statements
from penstock.spark import join

SAMPLE = 50
WARM = 10
WARM_ITEMS = 500
ROUNDS = 9
WANTED = 75
WANTED_ON_SPARK = 300


def beside_spark(count: int, queries_count: int) -> dict[str, Any]:
    """Measure queries over items on Spark, beside the same in this process."""
    items, queries = workload.items(count), workload.item_queries(queries_count)
    ours, expected = in_process(items, queries)
    progress(f"in this process: {ours['seconds']:.1f} s, {ours['results']} results")
    spark = start_session()
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    documents = table(spark, items)
    sample = queries[:: max(1, len(queries) // SAMPLE)][:SAMPLE]
    spark_joins.extract(documents.limit(WARM_ITEMS), workload.LEAVES).unpersist()
    extraction = timed(lambda: spark_joins.extract(documents, workload.LEAVES))
    spark_joins.count(spark, queries[1 : WARM + 1])
    found: list[int] = []
    sql = timed(lambda: found.extend(spark_joins.count(spark, sample)))
    assert found == [expected[text] for text in sample], "Spark SQL finds something else"
    progress(f"Spark SQL: {extraction['core_seconds']:.1f} s, {len(sample)} queries {sql}")
    spark.catalog.clearCache()
    on_spark = in_batch(spark, documents, queries, ROUNDS)
    progress(f"on Spark: {on_spark}")
    as_sql = in_batch(spark, documents, queries, 1, join_sql)
    progress(f"on Spark, as SQL: {as_sql}")
    for one in (on_spark, as_sql):
        assert one["results"] == ours["results"], f"{one['results']} results on Spark"
    spark.stop()
    scaled = sql["core_seconds"] * len(queries) / len(sample)
    theirs = extraction["core_seconds"] + scaled
    return {
        "items": count,
        "queries": len(queries),
        "sample": len(sample),
        "ours": ours,
        "on Spark": on_spark,
        "as SQL": as_sql,
        "extraction": extraction,
        "sql": sql,
        "scaled": scaled,
        "ratio": theirs / ours["seconds"],
        "ratio on Spark": theirs / on_spark["core_seconds"],
        "ratio as SQL": theirs / as_sql["core_seconds"],
    }


def in_process(items: list[bytes], queries: list[str]) -> tuple[dict[str, float], Counter[str]]:
    """Return what was measured in this process, and the results of each query."""
    compiled = Compiled(queries)
    run = ItemRun(compiled.load(is_counting=True))
    run.read(items)
    loaded = compiled.load()
    found: Counter[str] = Counter()
    for number, item in enumerate(items):
        loaded.joins.push(loaded.record(item, number, number * 1_000_000))
        while loaded.joins.has_results():
            found.update(queries[subscription] for subscription, _ in loaded.joins.take()[0])
    return run.measured(), found


def in_batch(
    spark: Any, documents: Any, queries: list[str], rounds: int, joined: Callable[..., Any] = join
) -> dict[str, Any]:
    """Return the median of joins on Spark, and the first; their results are rows with XML."""
    registry = penstock.Registry()
    for number, text in enumerate(queries):
        registry.add(f"q{number}", penstock.xscl(text))
    columns = {"time": "ts", "stream": "stream"}
    every = max(1, documents.count() // WARM_ITEMS)
    # Workers of all files are warm, and not that of the first one alone.
    write_nowhere(joined(documents.where(f"number % {every} = 0"), registry, **columns))
    turns = [
        timed(lambda: write_nowhere(joined(documents, registry, **columns))) for _ in range(rounds)
    ]
    measured = sorted(turns, key=itemgetter("core_seconds"))[len(turns) // 2]
    results = joined(documents, registry, **columns).count()
    made = {"results": results, "statements": len(statements(registry))}
    return {**measured, "first": turns[0]["core_seconds"], **made}


def table(spark: Any, items: list[bytes]) -> Any:
    """Return items as a DataFrame of documents, one second apart."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = OUT / "items"
    folder.mkdir(parents=True, exist_ok=True)
    share = -(-len(items) // 4)
    for part in range(4):
        numbers = range(part * share, min(len(items), (part + 1) * share))
        data = {
            "number": pa.array(numbers, pa.int64()),
            "xml": pa.array([items[number] for number in numbers], pa.binary()),
        }
        pq.write_table(pa.table(data), folder / f"{part}.parquet")
    found = spark.read.parquet(str(folder))
    return found.selectExpr(
        "number AS id", "number", "xml", "'S' AS stream", "timestamp_seconds(number) AS ts"
    )


def page(result: dict[str, Any]) -> list[str]:
    """Return the measurements as lines of Markdown."""
    seconds = {
        "joined in this process, results counted": result["ours"]["seconds"],
        "on Spark, results with their XML": result["on Spark"]["core_seconds"],
        f"on Spark as {result['as SQL']['statements']} SQL statements, the same": result["as SQL"][
            "core_seconds"
        ],
        "one Spark SQL query each, results counted": result["extraction"]["core_seconds"]
        + result["scaled"],
    }
    return [
        f"## {result['queries']:,} queries over {result['items']:,} items on Spark",
        "",
        f"Extraction included, {result['ours']['results']:,} results. One SQL query each joins"
        " cached tables of leaves that lxml read in the workers"
        f" ({result['extraction']['core_seconds']:.1f} s); {result['sample']} of them, warm, took"
        f" {result['sql']['core_seconds']:.1f} s and are scaled up. Their counts are ours."
        f" On Spark: the median of {ROUNDS} runs; the first took"
        f" {result['on Spark']['first']:.1f} s.",
        "",
        "| what | core time | |",
        "| --- | --- | --- |",
        *(
            f"| {what} | {one:,.1f} s | {one / result['ours']['seconds']:,.1f} |"
            for what, one in seconds.items()
        ),
        "",
    ]


def draw(result: dict[str, Any], path: Path) -> None:
    """Draw the core times."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    times = {
        "in this process": result["ours"]["seconds"],
        "on Spark": result["on Spark"]["core_seconds"],
        "on Spark, SQL per template": result["as SQL"]["core_seconds"],
        "Spark SQL, one query each": result["extraction"]["core_seconds"] + result["scaled"],
    }
    drawing, place = pyplot.subplots(figsize=(7, 4))
    place.bar(list(times), list(times.values()))
    place.set_yscale("log")
    place.set_ylabel("core seconds")
    place.set_title(f"{result['queries']:,} queries over {result['items']:,} items", fontsize=9)
    drawing.tight_layout()
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)
