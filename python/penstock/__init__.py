"""Standing queries over streams of XML documents, evaluated together in one pass."""

from __future__ import annotations

from penstock import errors
from penstock.engine import Engine, evaluate
from penstock.errors import DocumentError, PenstockError, QueryError
from penstock.languages.xpath import xpath
from penstock.languages.xquery import xquery
from penstock.languages.xscl import xscl
from penstock.limits import Limits
from penstock.planning.explain import explain, verdict
from penstock.registry import MemoryRegistry as Registry
from penstock.results import Document, Heartbeat, Result

__all__ = [
    "Document",
    "DocumentError",
    "Engine",
    "Heartbeat",
    "Limits",
    "PenstockError",
    "QueryError",
    "Registry",
    "Result",
    "errors",
    "evaluate",
    "explain",
    "verdict",
    "xpath",
    "xquery",
    "xscl",
]


def __getattr__(name: str) -> str:
    # Reading the metadata takes longer than everything above, and few ask.
    if name == "__version__":
        from importlib.metadata import version

        return version("penstock")
    raise AttributeError(f"module 'penstock' has no attribute {name!r}")
