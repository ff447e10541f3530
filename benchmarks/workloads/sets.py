"""Workloads by name: documents of one document type and the queries that are asked of them.

The knob is selectivity: of an ``unselective`` set of twigs about a fifth of the queries match a
document, of a ``selective`` one at most a thousandth. The same holds for paths over the NITF-like
type; the others have too few different paths for that.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks.workloads.documents import DocumentParameters, documents
from benchmarks.workloads.dtd import load_schema
from benchmarks.workloads.subscriptions import QueryParameters, queries, templates

VERSION = 1
"""Raise it when the same name gives other documents or queries: files carry it in their names."""

SCHEMAS = ("nitf", "book", "bib", "dblp", "auction", "rss")
KINDS = ("path", "twig", "template")
SELECTIVITIES = ("unselective", "selective")
SHAPES = 1000

# How many values a field takes: few where many queries match, many where few do.
_VALUES_MAX = {
    "nitf": {"unselective": 10, "selective": 10_000},
    "book": {"unselective": 5, "selective": 50_000},
    "bib": {"unselective": 40, "selective": 20_000},
    "dblp": {"unselective": 8, "selective": 10_000},
    "auction": {"unselective": 4, "selective": 10_000},
    "rss": {"unselective": 3, "selective": 10_000},
}
_DOCUMENTS = {
    "nitf": DocumentParameters(
        depth_max=12, repeats_max=3, optional=0.6, elements_min=100, elements_max=180
    ),
    "book": DocumentParameters(depth_max=10, elements_min=60, elements_max=150, optional=0.6),
    "bib": DocumentParameters(depth_max=4, repeats_max=20, elements_min=60, elements_max=150),
    "dblp": DocumentParameters(depth_max=5, repeats_max=20, elements_min=40, elements_max=150),
    "auction": DocumentParameters(depth_max=12, repeats_max=3, elements_min=80, elements_max=200),
    "rss": DocumentParameters(depth_max=9, repeats_max=3, elements_min=30, elements_max=120),
}
_WALKS = {
    "unselective": QueryParameters(length_max=6, grows=True, even=0.5),
    "selective": QueryParameters(
        length_min=9, length_max=12, wildcard=0.02, descendant=0.02, even=1.0
    ),
}
# Few equalities: they match least.
_OPERATORS = ("=", "!=", "!=", "<", "<", ">=", ">=")
_TEMPLATES = QueryParameters(length_min=2, wildcard=0.1)


@dataclass(frozen=True)
class Workload:
    """Documents and queries; everything follows from the three words."""

    schema: str
    kind: str
    selectivity: str

    def __post_init__(self) -> None:
        words = ((self.schema, SCHEMAS), (self.kind, KINDS), (self.selectivity, SELECTIVITIES))
        for value, known in words:
            if value not in known:
                raise ValueError(f"there is no {value!r}; use one of {', '.join(known)}")
        if self.kind == "template" and self.selectivity != "selective":
            raise ValueError("a template compares with one of many constants: it is selective")

    @property
    def name(self) -> str:
        """The three words, as they stand in file names and reports."""
        return f"{self.schema}-{self.kind}-{self.selectivity}"

    @property
    def document_parameters(self) -> DocumentParameters:
        """How its documents are drawn."""
        return replace(_DOCUMENTS[self.schema], values_max=self._values_max)

    @property
    def query_parameters(self) -> QueryParameters:
        """How its queries are drawn."""
        if self.kind == "template":
            return replace(_TEMPLATES, values_max=self._values_max)
        walk = replace(_WALKS[self.selectivity], values_max=self._values_max)
        if self.schema != "nitf":
            # A small document type has no rare paths: only values make its queries selective.
            walk = replace(walk, length_min=2, length_max=7, even=0.0)
        if self.kind == "path":
            return walk
        if self.schema != "nitf":
            return replace(walk, predicates_min=1, predicates_max=2)
        if self.selectivity == "selective":
            return replace(walk, predicates_max=2)
        return replace(walk, even=0.0, predicates_max=2, operators=_OPERATORS)

    @property
    def _values_max(self) -> int:
        return _VALUES_MAX[self.schema][self.selectivity]

    def documents(self, count: int) -> Iterator[bytes]:
        """Yield the first documents."""
        return documents(load_schema(self.schema), self.document_parameters, count)

    def queries(self, count: int) -> Iterator[str]:
        """Yield the first queries."""
        schema = load_schema(self.schema)
        if self.kind == "template":
            return templates(schema, self.query_parameters, count, SHAPES)
        return queries(schema, self.query_parameters, count)


def write_queries(folder: Path, name: str, texts: Iterator[str], count: int) -> Path:
    """Return the file of so many queries, one JSON object on each line, written once."""
    path = folder / f"{name}-v{VERSION}-{count}.jsonl"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".part-{os.getpid()}")
        with draft.open("w", encoding="utf-8") as file:
            for number, text in enumerate(texts):
                file.write(json.dumps({"name": f"q{number}", "query": text}) + "\n")
        os.replace(draft, path)
    return path
