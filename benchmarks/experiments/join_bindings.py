"""A query over two streams on Spark, beside the DataFrame join that a user would write for it.

Articles and posts that share a keyword become messages. A user reads both with Spark's own XML
functions, explodes elements and keywords, joins, drops pairs that share several keywords, and puts
the message together. Both give the same messages; times are core time of Spark's Java and Python
processes together, of a second run.
"""

from random import Random
from typing import Any

import penstock
from benchmarks.experiments.spark import timed, write_nowhere
from benchmarks.runner import progress
from benchmarks.spark_session import OUT, start_session
from penstock.spark import join

KEYWORDS = 40_000
QUERY = """
    for $a in stream("news")//article, $p in stream("blogs")//post
    where $a/tag = $p/keyword and $a/@lang = "en" and number($p/words) < number($a/words)
    return <related by="{$p/@by}">{$a/title}</related>
"""
ARTICLE = "_id string, _lang string, title string, words int, tag array<string>"
POST = "_by string, text string, words int, keyword array<string>"


def documents(count: int, elements: int) -> list[tuple[str, str, str]]:
    """Return so many documents of each stream, each with so many elements: id, stream, XML."""
    random = Random(19)
    found = []
    for number in range(count):
        articles = "".join(_article(random, number * elements + at) for at in range(elements))
        posts = "".join(_post(random, number * elements + at) for at in range(elements))
        found.append((f"n{number}", "news", f"<feed>{articles}</feed>"))
        found.append((f"b{number}", "blogs", f"<feed>{posts}</feed>"))
    return found


def _article(random: Random, number: int) -> str:
    tags = "".join(f"<tag>word {random.randrange(KEYWORDS)}</tag>" for _ in range(3))
    language = random.choice(("en", "de"))
    head = f"<title>The title of article {number}</title><words>{random.randrange(1000)}</words>"
    body = "<p>" + "lorem ipsum dolor sit amet " * 10 + "</p>"
    return f'<article id="{number}" lang="{language}">{head}{tags}{body}</article>'


def _post(random: Random, number: int) -> str:
    words = "".join(f"<keyword>word {random.randrange(KEYWORDS)}</keyword>" for _ in range(3))
    body = "<text>" + "what I think of it " * 10 + "</text>"
    return f'<post by="author {number}">{body}<words>{random.randrange(1000)}</words>{words}</post>'


def beside_spark(count: int, elements: int) -> dict[str, Any]:
    """Measure the query over so many documents of each stream, beside a DataFrame join."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = OUT / "streams"
    folder.mkdir(parents=True, exist_ok=True)
    rows = documents(count, elements)
    share = -(-len(rows) // 4)
    for part in range(4):
        columns = zip(*rows[part * share : (part + 1) * share], strict=True)
        named = dict(zip(("id", "stream", "xml"), map(list, columns), strict=True))
        pq.write_table(pa.table(named), folder / f"{part}.parquet")
    spark = start_session()
    spark.conf.set("spark.sql.shuffle.partitions", "4")
    frame = spark.read.parquet(str(folder))
    registry = penstock.Registry()
    registry.add("related", penstock.xquery(QUERY))

    def ours() -> Any:
        return join(frame, registry, stream="stream").select("value")

    found: dict[str, Any] = {"documents": len(rows), "bindings": 2 * count * elements}
    values = []
    for name, make in (("ours", ours), ("DataFrames", lambda: by_hand(frame))):
        values.append(sorted(row[0] for row in make().collect()))
        found[name] = timed(lambda make=make: write_nowhere(make()))
        progress(f"{name}: {found[name]}")
    assert values[0] == values[1], "both give the same messages"
    spark.stop()
    ratio = found["DataFrames"]["core_seconds"] / found["ours"]["core_seconds"]
    return found | {"results": len(values[0]), "ratio": ratio}


def by_hand(frame: Any) -> Any:
    """Return the messages by Spark's own functions."""
    from pyspark.sql import functions as f

    def elements(stream: str, name: str, schema: str) -> Any:
        whole = f.from_xml("xml", f"{name} array<struct<{schema}>>")
        return frame.where(f.col("stream") == stream).select(
            f.posexplode(whole[name]).alias("at", "one"), "id"
        )

    articles = elements("news", "article", _fields(ARTICLE)).where("one._lang = 'en'")
    articles = articles.select(
        f.col("one._id").alias("article"),
        f.col("one.title").alias("title"),
        f.col("one.words").alias("most"),
        f.explode(f.array_distinct("one.tag")).alias("word"),
    )
    posts = elements("blogs", "post", _fields(POST)).select(
        f.col("one._by").alias("by"),
        f.col("one.words").alias("words"),
        f.explode(f.array_distinct("one.keyword")).alias("word"),
    )
    pairs = articles.join(posts, "word").where("words < most").dropDuplicates(["article", "by"])
    return pairs.selectExpr(
        "concat('<related by=\"', by, '\"><title>', title, '</title></related>') AS value"
    )


def _fields(columns: str) -> str:
    return ", ".join(one.replace(" ", ": ", 1) for one in columns.split(", "))


def page(result: dict[str, Any]) -> list[str]:
    """Return the measurements as lines of Markdown."""
    lines = [
        "## A query over two streams on Spark",
        "",
        f"{result['bindings']:,} bindings in {result['documents']:,} documents,"
        f" {result['results']:,} messages, extraction included.",
        "",
        "| what | core time | |",
        "| --- | --- | --- |",
    ]
    for name, what in (("ours", "`join` of the query"), ("DataFrames", "DataFrames by hand")):
        seconds = result[name]["core_seconds"]
        lines.append(
            f"| {what} | {seconds:.1f} s | {seconds / result['ours']['core_seconds']:.1f} |"
        )
    return [*lines, ""]
