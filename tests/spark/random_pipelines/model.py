"""What a pipeline should do, in plain Python: the engine in process and lists of rows.

Nothing here is taken from the sinks or from the pipelines. The rules are those of the
documentation: `upsert` replaces rows of earlier batches that have the same id, `append` keeps all,
`overwrite` keeps those of the same run, `fail` begins no run where another one has rows.
"""

from __future__ import annotations

import gzip
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path

import penstock
from penstock.planning.modes import Mode
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
    _documents_of: dict[int, list[penstock.Document]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._registry = penstock.Registry()
        self._joins = penstock.Registry()
        for name, query in self.case.queries.items():
            registry = self._joins if query.language == "xscl" else self._registry
            mode: Mode = "filter" if query.mode == "filter" else "query"
            registry.add(name, query.text, mode, query.owner, language=query.language)

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
        taken = list(self._take(step))
        documents = [self._rows_of(one) for one in taken]
        rows = [row for found in documents for row in found]
        rows += self._joined(step, taken)
        quarantined = sum(row[4] == "error" for row in rows)
        for place, sink in enumerate(self.case.sinks):
            # A stream without documents has no batch at all.
            if documents or not self.case.is_streaming:
                self._write(place, sink, run, [row for row in rows if self._belongs(row, sink)])
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
        path = self.folder / key[0] / key[1]
        whole = penstock.Document(data, str(path), source.stream, int(path.stat().st_mtime))
        if source.kind == "records":
            yield from records(whole, "//r")
        else:
            yield whole

    def _joined(self, step: StepCase, taken: list[penstock.Document]) -> list[Row]:
        """Return what documents give together with those that the same stream read before."""
        if not len(self._joins):
            return []
        before = self._documents_of.setdefault(step.stream, []) if self.case.is_streaming else []
        known = Counter(self._join(before))
        every = before + taken
        if self.case.is_streaming:
            self._documents_of[step.stream] = every
        found = Counter(self._join(every))
        assert not known - found, "what was found stays found"
        return list((found - known).elements())

    def _join(self, documents: list[penstock.Document]) -> list[Row]:
        rows = penstock.Engine(self._joins).run(documents)
        # Documents that fail are told with the other subscriptions.
        return [engine_row(row) for row in rows if row.subscription is not None]

    def _belongs(self, row: Row, sink: SinkCase) -> bool:
        is_error, name = row[4] == "error", row[0]
        if sink.choice:
            if name is None:
                return False
            owners, globs = sink.choice.get("owner"), sink.choice.get("subscriptions")
            if owners is not None and self.case.queries[name].owner not in owners:
                return False
            if globs is not None and not any(fnmatchcase(name, glob) for glob in globs):
                return False
        return sink.rows == "all" or is_error == (sink.rows == "quarantine")

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


def _id(row: Row) -> tuple[object, ...] | None:
    """Return what tells a row from others; a document without an id has rows without one."""
    return None if row[_DOCUMENT] is None else tuple(row[at] for at in _ID)
