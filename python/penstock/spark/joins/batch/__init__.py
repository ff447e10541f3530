"""Joins over batch DataFrames, by the native joins or by SQL."""

from penstock.spark.joins.batch.evaluation import Statement, statements
from penstock.spark.joins.batch.joining import join

__all__ = ["Statement", "join", "statements"]
