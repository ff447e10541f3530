"""A pipeline as a case: what it reads, asks and writes, and what changes between its runs."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Table = tuple[tuple[str | None, str | bytes | None], ...]
"""Ids and documents, as rows of a Parquet file."""
Content = bytes | Table | None
"""What a file holds; None removes it."""

TIME = 1_700_000_000
"""Files are of times from this second on."""

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
    choice: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The names or globs of ``subscriptions``, and the names of an ``owner``."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells the place from others."""
        return self.kind, self.path, self.table

    def as_setting(self, number: int, folder: str = "") -> dict[str, Any]:
        """Return the sink as it stands in a file from which the folder is seen."""
        made: dict[str, Any] = {"kind": self.kind, "name": f"sink {number}", "rows": self.rows}
        made |= {key: list(names) for key, names in self.choice.items()}
        if self.kind != "console":
            made["path"] = folder + self.path
        if self.kind == "sqlite":
            made["table"] = self.table
        if self.write is not None:
            made["write"] = self.write
        return made


@dataclass(frozen=True, slots=True)
class QueryCase:
    """A subscription."""

    text: str
    language: str = "xpath"
    mode: str = "query"
    owner: str | None = None

    def as_setting(self, name: str) -> dict[str, Any]:
        """Return the subscription as it stands in the file of a pipeline."""
        made = {"name": name, "language": self.language, "query": self.text, "mode": self.mode}
        return made if self.owner is None else {**made, "owner": self.owner}


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
    queries: Mapping[str, QueryCase]
    sources: tuple[SourceCase, ...]
    sinks: tuple[SinkCase, ...]
    steps: tuple[StepCase, ...]
    included: int = 0
    """So many subscriptions and sinks, of each, stand in a file that is included."""

    @property
    def is_streaming(self) -> bool:
        """Whether it goes on where it stopped."""
        return self.trigger != "batch"

    def write_files(self, folder: Path, step: StepCase) -> None:
        """Change the files, and write the pipeline as it is for a run."""
        for source in self.sources:
            (folder / source.folder).mkdir(parents=True, exist_ok=True)
        number = self.steps.index(step)
        for place, ((source, name), content) in enumerate(step.changes.items()):
            _write_file(folder / source / name, content, self._kind_of(source))
            if content is not None:
                # No two files are of the same time, and later ones are of a later time.
                moment = TIME + 1000 * number + place
                os.utime(folder / source / name, (moment, moment))
        for file, text in self.texts(step).items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(text, "utf-8")

    def texts(self, step: StepCase) -> dict[str, str]:
        """Return the files of the pipeline for a run; JSON is YAML, too."""
        queries = [query.as_setting(name) for name, query in self.queries.items()]
        own = len(self.sinks) - min(self.included, len(self.sinks))
        kept = len(queries) - min(self.included, len(queries))
        files = {"pipeline.yaml": self._text(step, queries[:kept], own)}
        if self.included:
            part: dict[str, Any] = {}
            if queries[kept:]:
                part["registry"] = {"subscriptions": queries[kept:]}
            sinks = list(enumerate(self.sinks))[own:]
            part["sinks"] = [sink.as_setting(number, "../") for number, sink in sinks]
            files["parts/one.yaml"] = json.dumps(part, indent=1)
        return files

    def _text(self, step: StepCase, queries: list[dict[str, Any]], sinks: int) -> str:
        made: dict[str, Any] = {"sources": [source.as_setting() for source in self.sources]}
        if queries:
            made["registry"] = {"subscriptions": queries}
        if sinks:
            settings = [sink.as_setting(number) for number, sink in enumerate(self.sinks)]
            made["sinks"] = settings[:sinks]
        if self.included:
            made["include"] = "parts/one.yaml"
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
            lines += [f"{file}:\n{text}" for file, text in self.texts(step).items()]
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
