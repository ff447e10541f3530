"""The in-process engine: documents in, rows out while the input is still arriving."""

from penstock.engine.engine import Engine
from penstock.engine.evaluation import evaluate
from penstock.engine.push import OpenDocument
from penstock.results import Results

__all__ = ["Engine", "OpenDocument", "Results", "evaluate"]
