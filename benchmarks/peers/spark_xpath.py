"""Spark's own function: one call of ``xpath_boolean`` for each query and document."""

import os
import sys
from collections.abc import Iterable
from itertools import islice
from typing import Any

from benchmarks.peers import absent

NAME = "Spark xpath_boolean"
TIMED = "select of all answers over batches of documents on one core, rows in Python"
KINDS = ("path", "nested", "twig", "template")
MODES = ("filter",)
SUBSCRIPTIONS = range(10, 101)

_BATCH_DOCUMENTS = 16


def missing() -> str | None:
    import shutil

    if not shutil.which("java") and "JAVA_HOME" not in os.environ:
        return "Spark needs Java, which is not here"
    return absent("pyspark")


class Columns:
    """A column for each query."""

    def __init__(self, queries: Iterable[str]) -> None:
        os.environ["PYSPARK_PYTHON"] = sys.executable
        from pyspark.sql import SparkSession
        from pyspark.sql import functions as f

        builder = SparkSession.builder.master("local[1]").appName("penstock benchmark")
        for key, value in (
            ("spark.ui.enabled", "false"),
            ("spark.ui.showConsoleProgress", "false"),
            ("spark.driver.host", "127.0.0.1"),
            ("spark.driver.bindAddress", "127.0.0.1"),
        ):
            builder = builder.config(key, value)
        self._spark = builder.getOrCreate()
        self._spark.sparkContext.setLogLevel("ERROR")
        answers = (f.xpath_boolean("text", f.lit(query)) for query in queries)
        self._column = f.array(*answers)

    def read(self, documents: Iterable[bytes]) -> None:
        texts = (document.decode() for document in documents)
        while batch := list(islice(texts, _BATCH_DOCUMENTS)):
            self._matches(batch)

    def answer(self, document: bytes) -> list[int]:
        return self._matches([document.decode()])[0]

    def forget(self) -> None:
        pass

    def close(self) -> None:
        """Stop Spark, so that a session with other settings can be started in this process."""
        self._spark.stop()

    def _matches(self, texts: list[str]) -> list[list[int]]:
        frame: Any = self._spark.createDataFrame([(text,) for text in texts], "text string")
        rows = frame.coalesce(1).select(self._column).collect()
        return [[number for number, holds in enumerate(row[0]) if holds] for row in rows]


def subscribe(queries: Iterable[str], mode: str) -> Columns:
    return Columns(queries)
