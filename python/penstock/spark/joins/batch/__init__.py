"""Joins over batch DataFrames, by the native joins."""

from penstock.spark.joins.batch.joining import join

__all__ = ["join"]
