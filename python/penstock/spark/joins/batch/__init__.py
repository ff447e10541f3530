"""Joins over batch DataFrames: witnesses in the workers, one SQL statement per template."""

from penstock.spark.joins.batch.evaluation import Statement, join, statements

__all__ = ["Statement", "join", "statements"]
