"""Joins between documents on Spark."""

from penstock.spark.joins.batch import join as join
from penstock.spark.joins.stream import JoinProgress as JoinProgress
from penstock.spark.joins.stream import join_progress as join_progress
from penstock.spark.joins.stream import join_stream as join_stream
