"""Joins of a batch by the native joins: records in Spark's shuffles, segments in its workers."""

from penstock.spark.joins.batch.segments.evaluation import join_segments as join_segments
