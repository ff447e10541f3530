"""A job as somebody writes it, run without any setting of the environment."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "python"))

from pyspark.sql import SparkSession  # noqa: E402  # the tree's package is found only now

import penstock  # noqa: E402
from penstock.spark import match  # noqa: E402
from penstock.spark.sources import register  # noqa: E402

spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
registry = penstock.Registry()
registry.add("b", "//b")
documents = spark.createDataFrame([("1", b"<a><b/><b/></a>")], "id string, xml binary")
found = match(documents, registry).count()
Path("a.xml").write_text("<a><b/></a>")
register(spark)
found += match(spark.read.format("penstock-xml").load("a.xml"), registry).count()
spark.stop()
print(found)
