"""Joins between documents on Spark."""

from penstock.spark.joins.batch import join as join
from penstock.spark.joins.batch import statements as statements
