"""What a pipeline should do, in plain Python: the engine in process and lists of rows.

Nothing here is taken from the sinks or from the pipelines. The rules are those of the
documentation: `upsert` replaces rows of earlier batches that have the same id, `append` keeps all,
`overwrite` keeps those of the same run, `fail` begins no run where another one has rows.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

import penstock
from penstock.sources.records import records
from tests.spark.helpers.stored import COLUMNS, Row, engine_row
from tests.spark.random_pipelines.cases import (
    Content,
    PipelineCase,
    SinkCase,
    SourceCase,
    StepCase,
)

_GZIP = b"\x1f\x8b"
_DOCUMENT, _ID = COLUMNS.index("document"), (0, 2, 3)
"""Where a row has its document, and subscription, document and ordinal."""

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Expected:
    """What one run returns and leaves."""

    exit_code: int
    documents: int
    results: int
    quarantined: int
    held: dict[int, list[Row]]
    """The rows of each sink after the run, by its number; of a console, those of the run."""


@dataclass
class Model:
    """A pipeline's files and sinks, run after run."""

    case: PipelineCase
    folder: Path
    _files: dict[Key, Content] = field(default_factory=dict)
    _read: dict[int, set[Key]] = field(default_factory=dict)
    _held: dict[int, list[tuple[str, Row]]] = field(default_factory=dict)
    """The rows of each sink, each with its run."""

    def __post_init__(self) -> None:
        self._registry = penstock.Registry()
        for name, (query, mode) in self.case.queries.items():
            self._registry.add(name, query, "filter" if mode == "filter" else "query")

    def run(self, number: int, step: StepCase) -> Expected:
        """Return what a run should do."""
        self._files |= step.changes
        places = [sink.key for sink in self.case.sinks if sink.kind != "console"]
        is_mistaken = any(source.is_mistaken for source in self.case.sources)
        if is_mistaken or len(set(places)) < len(places):
            return self._refused(2)
        run = f"stream {step.stream}" if self.case.is_streaming else f"batch {number}"
        for place, sink in enumerate(self.case.sinks):
            others = [one for one, _ in self._held.get(place, []) if one != run]
            if sink.write == "fail" and others:
                return self._refused(4)
        documents = [self._rows_of(one) for one in self._take(step)]
        rows = [row for found in documents for row in found]
        quarantined = sum(row[4] == "error" for row in rows)
        for place, sink in enumerate(self.case.sinks):
            # A stream without documents has no batch at all.
            if documents or not self.case.is_streaming:
                self._write(place, sink, run, [row for row in rows if _belongs(row, sink.rows)])
            elif sink.kind == "console":
                self._held[place] = []
        return Expected(
            3 if quarantined else 0,
            len(documents),
            len(rows) - quarantined,
            quarantined,
            self._rows_held(),
        )

    def _refused(self, code: int) -> Expected:
        for place, sink in enumerate(self.case.sinks):
            if sink.kind == "console":
                self._held[place] = []
        return Expected(code, 0, 0, 0, self._rows_held())

    def _rows_held(self) -> dict[int, list[Row]]:
        return {
            place: [row for _, row in self._held.get(place, [])]
            for place in range(len(self.case.sinks))
        }

    def _write(self, place: int, sink: SinkCase, run: str, rows: list[Row]) -> None:
        before = self._held.get(place, [])
        mode = sink.write or ("upsert" if sink.kind == "sqlite" else "append")
        if sink.kind == "console":
            before = []
        elif mode == "overwrite":
            before = [(one, row) for one, row in before if one == run]
        elif mode == "upsert":
            new = {_id(row) for row in rows} - {None}
            before = [(one, row) for one, row in before if _id(row) not in new]
        self._held[place] = before + [(run, row) for row in rows]

    def _take(self, step: StepCase) -> Iterator[penstock.Document]:
        """Yield the documents that a run reads; a null one has no data."""
        seen = self._read.setdefault(step.stream, set())
        for key, content in sorted(self._files.items()):
            if content is None or (self.case.is_streaming and key in seen):
                continue
            (source,) = [one for one in self.case.sources if one.folder == key[0]]
            if source.place.endswith("*.xml") and not fnmatch(key[1], "*.xml"):
                continue
            seen.add(key)
            yield from self._documents(source, key, content)

    def _documents(
        self, source: SourceCase, key: Key, content: Content
    ) -> Iterator[penstock.Document]:
        if not isinstance(content, bytes):
            for name, data in content or ():
                yield penstock.Document(data, name, source.stream)  # type: ignore[arg-type]
            return
        data = gzip.decompress(content) if content.startswith(_GZIP) else content
        whole = penstock.Document(data, str(self.folder / key[0] / key[1]), source.stream)
        if source.kind == "records":
            yield from records(whole, "//r")
        else:
            yield whole

    def _rows_of(self, document: penstock.Document) -> list[Row]:
        """Return what the engine finds in a document, in this process."""
        if document.data is None:
            return [
                (None, document.stream, document.id, 0, "error", "", None, None, None, "PS0001")
            ]
        rows = penstock.Engine(self._registry).run(document)
        # A document without an id has one in the engine: its number.
        return [_replaced(engine_row(row), document.id) for row in rows]


def _replaced(row: Row, document: str | None) -> Row:
    return (*row[:_DOCUMENT], document, *row[_DOCUMENT + 1 :])


def _belongs(row: Row, rows: str) -> bool:
    is_error = row[4] == "error"
    return rows == "all" or is_error == (rows == "quarantine")


def _id(row: Row) -> tuple[object, ...] | None:
    """Return what tells a row from others; a document without an id has rows without one."""
    return None if row[_DOCUMENT] is None else tuple(row[at] for at in _ID)
