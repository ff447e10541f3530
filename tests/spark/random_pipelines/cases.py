"""A pipeline as a case: what it reads, asks and writes, and what changes between its runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Table = tuple[tuple[str | None, str | bytes | None], ...]
"""Ids and documents, as rows of a Parquet file."""
Content = bytes | Table | None
"""What a file holds; None removes it."""

MISSING = "missing"
"""A folder that is not there …"""
MISSPELT = "maxFilesPerTriger"
"""… and an option that no source of files knows: both are mistakes of the file."""


@dataclass(frozen=True, slots=True)
class SourceCase:
    """A folder of documents in some form.

    ``kind`` is ``files``, ``records``, ``text`` or ``binary``; the last two are columns of Parquet
    files. ``place`` is what the pipeline reads: the folder, a glob or a file in it.
    """

    kind: str
    folder: str
    place: str
    stream: str
    options: Mapping[str, str]

    @property
    def is_mistaken(self) -> bool:
        """Whether the pipeline must be refused."""
        return self.place.endswith(MISSING) or MISSPELT in self.options

    def as_setting(self) -> dict[str, Any]:
        """Return the source as it stands in the file of a pipeline."""
        shared = {"path": self.place, "stream": self.stream, "options": dict(self.options)}
        match self.kind:
            case "files":
                return {"kind": "files", **shared}
            case "records":
                return {"kind": "files", "record": "//r", **shared}
            case kind:
                column = {"text": "string", "binary": "binary"}[kind]
                schema = {"schema": f"id string, xml {column}", "document": "xml", "id": "id"}
                return {"kind": "spark", "format": "parquet", **schema, **shared}


@dataclass(frozen=True, slots=True)
class SinkCase:
    """A place for rows; ``write`` is None where the default is meant."""

    kind: str
    path: str
    rows: str
    write: str | None
    table: str = "results"

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the place from others."""
        return self.kind, self.path, self.table

    def as_setting(self, number: int) -> dict[str, Any]:
        """Return the sink as it stands in the file of a pipeline."""
        made: dict[str, Any] = {"kind": self.kind, "name": f"sink {number}", "rows": self.rows}
        if self.kind != "console":
            made["path"] = self.path
        if self.kind == "sqlite":
            made["table"] = self.table
        if self.write is not None:
            made["write"] = self.write
        return made


@dataclass(frozen=True, slots=True)
class StepCase:
    """A run, the files that change before it, and the number of its checkpoint."""

    changes: Mapping[tuple[str, str], Content]
    stream: int


@dataclass(frozen=True, slots=True)
class PipelineCase:
    """A pipeline with all its runs."""

    seed: int
    trigger: str
    queries: Mapping[str, tuple[str, str]]
    sources: tuple[SourceCase, ...]
    sinks: tuple[SinkCase, ...]
    steps: tuple[StepCase, ...]

    @property
    def is_streaming(self) -> bool:
        """Whether it goes on where it stopped."""
        return self.trigger != "batch"

    def write_files(self, folder: Path, step: StepCase) -> None:
        """Change the files, and write the pipeline as it is for a run."""
        for source in self.sources:
            (folder / source.folder).mkdir(parents=True, exist_ok=True)
        for (place, name), content in step.changes.items():
            _write_file(folder / place / name, content, self._kind_of(place))
        (folder / "pipeline.yaml").write_text(self.text(step), "utf-8")

    def text(self, step: StepCase) -> str:
        """Return the file of the pipeline for a run; JSON is YAML, too."""
        made: dict[str, Any] = {
            "sources": [source.as_setting() for source in self.sources],
            "registry": {
                "subscriptions": [
                    {"name": name, "query": query, "mode": mode}
                    for name, (query, mode) in self.queries.items()
                ]
            },
            "sinks": [sink.as_setting(number) for number, sink in enumerate(self.sinks)],
        }
        if self.is_streaming:
            interval = {"processing_time": "10 milliseconds"}
            made["trigger"] = interval if self.trigger == "processing_time" else self.trigger
            made["checkpoint"] = f"checkpoints/{step.stream}"
        return json.dumps(made, indent=1)

    def describe(self) -> str:
        """Return everything that is needed to run the case by hand."""
        lines = [f"seed {self.seed}"]
        for number, step in enumerate(self.steps):
            lines.append(f"run {number}, after these changes:")
            lines += [f"  {'/'.join(place)}: {data!r}" for place, data in step.changes.items()]
            lines.append(self.text(step))
        return "\n".join(lines)

    def _kind_of(self, folder: str) -> str:
        return next(source.kind for source in self.sources if source.folder == folder)


def _write_file(path: Path, content: Content, kind: str) -> None:
    """Write a file as if in one moment: a stream may be looking."""
    if content is None:
        path.unlink()
        return
    part = path.with_name(f"_{path.name}")
    if isinstance(content, bytes):
        part.write_bytes(content)
    else:
        type_ = pa.string() if kind == "text" else pa.binary()
        columns = {
            "id": pa.array([id_ for id_, _ in content], pa.string()),
            "xml": pa.array([data for _, data in content], type_),
        }
        pq.write_table(pa.table(columns), part)
    os.replace(part, path)
