"""MMQJP on Spark: one SQL statement for each template."""

from papers.mmqjp.spark.evaluation import Statement, join_sql, statements

__all__ = ["Statement", "join_sql", "statements"]
