"""The package on Spark's workers: sent there, checked there, and one sentence if it is missing."""

from penstock.spark.deployment.guard import map_batches
from penstock.spark.deployment.sessions import is_local, prepare
from penstock.spark.deployment.shipping import ship

__all__ = ["is_local", "map_batches", "prepare", "ship"]
