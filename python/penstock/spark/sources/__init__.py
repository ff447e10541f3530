"""Data sources in Python: XML files and archives (``penstock-xml``) and feeds (``penstock-feeds``).

``register`` makes them known to a session; importing this package changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from penstock import extras
from penstock.spark.deployment import prepare
from penstock.spark.features import Feature, require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]

_WAY_OUT = "read documents with sources of Spark's own, such as binaryFile, or use a later Spark"


def register(spark: SparkSession) -> None:
    """Make ``penstock-xml`` and ``penstock-feeds`` known to a session.

    What Hadoop's configuration says now of object stores and HDFS holds for ``penstock-xml``.

    Raises:
        ImportError: pyspark is not installed; ``pip install penstock-xml[spark]`` does that.
        DeploymentError: This version of Spark has no data sources in Python, or the workers of a
            cluster cannot run this package.
    """
    extras.load("pyspark", "spark")
    prepare(spark)
    require(Feature.PYTHON_SOURCES, "penstock-xml and penstock-feeds need", _WAY_OUT)
    from penstock.spark.sources.feeds import PenstockFeeds
    from penstock.spark.sources.hadoop import stores_of
    from penstock.spark.sources.xml import PenstockXml

    # Sources of Python run beside Spark, where nobody knows Hadoop's configuration.
    known = type("PenstockXml", (PenstockXml,), {"stores": stores_of(spark)})
    spark.dataSource.register(known)
    spark.dataSource.register(PenstockFeeds)
