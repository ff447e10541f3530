"""Subscriptions over DataFrames of documents, in batch and streaming.

Workers need this package, as the driver does; Spark itself comes with the extra ``[spark]`` or
with the cluster. Nothing here uses more than Spark Connect offers.
"""

from penstock.spark.deployment import ship
from penstock.spark.joins import JoinProgress, join, join_progress, join_stream, statements
from penstock.spark.match import match, quarantine, results
from penstock.spark.routing import route, stamp
from penstock.spark.tables import tables

__all__ = [
    "JoinProgress",
    "join",
    "join_progress",
    "join_stream",
    "match",
    "quarantine",
    "results",
    "route",
    "ship",
    "stamp",
    "statements",
    "tables",
]
