"""A pipeline that is killed: its files, its command, and what its sinks should hold at the end."""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds

import penstock
from tests.spark.kills.holds import committed

BATCH_FILES = 3
FILES_AHEAD = 10 * BATCH_FILES
"""So many files wait, at least, whenever the pipeline asks for the next batch."""
COLUMNS = ("subscription", "document", "ordinal", "kind", "value", "code")

_PIPELINE = """\
sources:
  - {{kind: files, path: inbox, options: {{maxFilesPerTrigger: {files}}}}}
registry: subscriptions
sinks:
{sinks}
trigger: {trigger}
checkpoint: out/checkpoint
spark: {{master: "local[2]", settings: {{spark.sql.shuffle.partitions: "2"}}}}
"""
_QUERIES = {
    "id": "/order/@id",
    "large": "/order[total > 50]/@id",
    "lines": "//line/@sku",
}

Row = tuple[Any, ...]


def document(number: int) -> bytes:
    """Return a document: most are orders, some in other encodings, some broken, some empty."""
    lines = "".join(f"<line sku='s{number % 9}'>{n}</line>" for n in range(number % 5))
    body = f"<order id='{number}é'>{lines}<total>{number % 100}</total>"
    match number % 20:
        case 7:
            return body.encode()
        case 11:
            return b""
        case 13:
            return f"<?xml version='1.0' encoding='ISO-8859-1'?>{body}</order>".encode("latin-1")
        case 17:
            return f"<?xml version='1.0' encoding='UTF-16'?>{body}</order>".encode("utf-16")
        case _:
            return f"{body}</order>".encode()


@dataclass
class PipelineProject:
    """A folder with a pipeline, documents that keep coming, and sinks in some order."""

    folder: Path
    sinks: Sequence[str]
    files: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        for name in ("inbox", "incoming"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.files = len(list((self.folder / "inbox").iterdir()))
        if not self.files:
            registry = penstock.Registry.open(self.folder / "subscriptions")
            for name, query in _QUERIES.items():
                registry.add(name, query)

    @property
    def checkpoint(self) -> Path:
        """Where the stream keeps how far it came."""
        return self.folder / "out" / "checkpoint"

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the command of the pipeline, which goes on for ever or reads what is left."""
        trigger = "{processing_time: 10 milliseconds}" if is_endless else "available_now"
        sinks = "\n".join(f"  - {{kind: {kind}, path: out/{kind}, rows: all}}" for kind in self.sinks)
        files = BATCH_FILES if is_endless else 1000
        text = _PIPELINE.format(files=files, sinks=sinks, trigger=trigger)
        (self.folder / "pipeline.yaml").write_text(text, "utf-8")
        return ["penstock", "run", str(self.folder / "pipeline.yaml"), "--quiet"]

    def feed(self) -> None:
        """Add documents, so that the pipeline never waits for them; each appears whole."""
        wanted = BATCH_FILES * committed(self.checkpoint) + FILES_AHEAD
        while self.files < wanted:
            name = f"{self.files:05}.xml"
            part = self.folder / "incoming" / name
            part.write_bytes(document(self.files))
            part.rename(self.folder / "inbox" / name)
            self.files += 1

    def documents_of(self, batch: int) -> set[str]:
        """Return the documents of a batch, by the log that Spark wrote before it."""
        lines = (self.checkpoint / "offsets" / str(batch)).read_text("utf-8").splitlines()
        return {Path(path).name for path, *_ in json.loads(json.loads(lines[-1])["files"])}

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return the sinks that have all rows of a batch."""
        documents = self.documents_of(batch)
        wanted = Counter(row for row in self.expected() if row[1] in documents)
        assert wanted, f"batch {batch} has no rows"
        return tuple(kind for kind in self.sinks if not wanted - Counter(self.rows_in(kind)))

    def differences(self) -> dict[str, tuple[int, int]]:
        """Return by sink how many rows are lost and how many are there too often."""
        wanted = Counter(self.expected())
        found = {kind: Counter(self.rows_in(kind)) for kind in self.sinks}
        return {
            kind: ((wanted - rows).total(), (rows - wanted).total()) for kind, rows in found.items()
        }

    def expected(self) -> list[Row]:
        """Return what the engine finds in all documents, in this process."""
        registry = penstock.Registry.open(self.folder / "subscriptions")
        paths = sorted((self.folder / "inbox").iterdir())
        rows = penstock.Engine(registry).run(penstock.Document(path, id=path.name) for path in paths)
        return [
            (
                row.subscription,
                row.document,
                row.ordinal,
                row.kind,
                row.value,
                row.error.code if row.error else None,
            )
            for row in rows
        ]

    def rows_in(self, kind: str) -> list[Row]:
        """Return the rows of a sink; the sink itself stays as it is."""
        path = self.folder / "out" / kind
        if not path.exists():
            return []
        if kind == "sqlite":
            return list(_table_rows(path))
        found = _json_rows(path) if kind == "json" else _parquet_rows(path)
        return [
            (
                row["subscription"],
                Path(row["document"]).name,
                row["ordinal"],
                row["kind"],
                row["value"],
                row["error"] and row["error"]["code"],
            )
            for row in found
        ]


def _parquet_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    # Without this, an unfinished first write makes a folder that has no schema.
    if any(folder.rglob("part-*")):
        found = ds.dataset(str(folder), format="parquet", partitioning="hive")
        columns = ["subscription", "document", "ordinal", "kind", "value", "error"]
        yield from found.to_table(columns=columns).to_pylist()


def _json_rows(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in folder.rglob("*.json"):
        # What is below `_temporary` is no part of the folder yet.
        if not any(part.startswith(("_", ".")) for part in path.relative_to(folder).parts):
            yield from map(json.loads, path.read_text("utf-8").splitlines())


def _table_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a copy: opening a database repairs it, and that is the pipeline's part."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("", "-wal"):
            if path.with_name(path.name + suffix).exists():
                shutil.copy(path.with_name(path.name + suffix), Path(folder, f"copy{suffix}"))
        with closing(sqlite3.connect(Path(folder, "copy"))) as database:
            if database.execute("SELECT 1 FROM sqlite_master WHERE name = 'results'").fetchone():
                chosen = "subscription, document, ordinal, kind, value, error_code"
                for name, place, *rest in database.execute(f"SELECT {chosen} FROM results"):
                    yield (name, Path(place).name, *rest)
