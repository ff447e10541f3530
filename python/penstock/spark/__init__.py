"""Subscriptions over DataFrames of documents, in batch and streaming.

Workers need this package, as the driver does; Spark itself comes with the extra ``[spark]`` or
with the cluster. Nothing here uses more than Spark Connect offers.
"""

from penstock.spark.deployment import ship
from penstock.spark.joins import JoinProgress, join, join_progress, join_stream
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
    "tables",
]


def __getattr__(name: str) -> object:
    if name == "statements":
        from penstock.errors import GONE, SettingError

        raise SettingError(
            GONE,
            "statements is gone: `join` uses no SQL; that of the paper is in papers/mmqjp of the "
            "repository",
        )
    raise AttributeError(f"module 'penstock.spark' has no attribute {name!r}")
