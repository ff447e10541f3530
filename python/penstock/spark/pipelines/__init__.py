"""Pipelines as configuration: a YAML file says what to read, what to ask and where results go."""

from penstock.definitions.mistakes import ConfigurationError
from penstock.spark.pipelines.configuration import Pipeline, load
from penstock.spark.pipelines.progress import Outcome
from penstock.spark.pipelines.running import run

__all__ = ["ConfigurationError", "Outcome", "Pipeline", "load", "run"]
