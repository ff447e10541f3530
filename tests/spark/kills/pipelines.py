"""A pipeline that is killed: its files, its command, and what its sinks should hold at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import penstock
from tests.spark.helpers.stored import COLUMNS, Row, engine_row, rows_in
from tests.spark.kills.checkpoints import committed

BATCH_FILES = 3
FILES_AHEAD = 10 * BATCH_FILES
"""So many files wait, at least, whenever the pipeline asks for the next batch."""

_PIPELINE = """\
sources:
  - {{kind: files, path: inbox, stream: {stream}, options: {{maxFilesPerTrigger: {files}}}}}
registry: subscriptions
sinks:
{sinks}
trigger: {trigger}
checkpoint: out/checkpoint
spark: {{master: "local[1]", settings: {settings}}}
{more}"""
_QUERIES = {
    "id": "/order/@id",
    "large": "/order[total > 50]/@id",
    "lines": "//line/@sku",
}

_DOCUMENT = COLUMNS.index("document")


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
    settings: Mapping[str, str] = field(default_factory=dict)
    lake_mode: str = "upsert"
    exit_code: int = 3  # some documents are broken
    files: int = field(default=0, init=False)

    stream = "default"
    more = ""
    """Further keys of the pipeline."""

    def __post_init__(self) -> None:
        self.folder = self.folder.absolute()
        for name in ("inbox", "incoming"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        self.files = len(list((self.folder / "inbox").iterdir()))
        if not self.files:
            self.subscribe()

    def subscribe(self) -> None:
        """Make the registry."""
        registry = penstock.Registry.open(self.folder / "subscriptions")
        for name, query in _QUERIES.items():
            registry.add(name, query)

    def put(self, number: int) -> None:
        """Add a document, which appears whole."""
        part = self.folder / "incoming" / f"{number:05}.xml"
        part.write_bytes(document(number))
        part.rename(self.folder / "inbox" / part.name)

    @property
    def checkpoint(self) -> Path:
        """Where the stream keeps how far it came."""
        return self.folder / "out" / "checkpoint"

    def command(self, *, is_endless: bool) -> list[str]:
        """Return the command of the pipeline, which goes on for ever or reads what is left."""
        trigger = "{processing_time: 10 milliseconds}" if is_endless else "available_now"
        modes = dict.fromkeys(("delta", "iceberg"), f", write: {self.lake_mode}")
        sinks = "\n".join(
            f"  - {{kind: {kind}, path: out/{kind}, rows: all{modes.get(kind, '')}}}"
            for kind in self.sinks
            if kind != "state"
        )
        settings = json.dumps({"spark.sql.shuffle.partitions": "1", **self.settings})
        files = BATCH_FILES if is_endless else 1000
        text = _PIPELINE.format(
            files=files,
            sinks=sinks,
            trigger=trigger,
            settings=settings,
            stream=self.stream,
            more=self.more,
        )
        (self.folder / "pipeline.yaml").write_text(text, "utf-8")
        return ["penstock", "run", str(self.folder / "pipeline.yaml"), "--quiet"]

    def feed(self) -> None:
        """Add documents, so that the pipeline never waits for them; each appears whole."""
        wanted = BATCH_FILES * committed(self.checkpoint) + FILES_AHEAD
        while self.files < wanted:
            self.put(self.files)
            self.files += 1

    def documents_of(self, batch: int) -> set[str]:
        """Return the documents of a batch, by the log that Spark wrote before it."""
        lines = (self.checkpoint / "offsets" / str(batch)).read_text("utf-8").splitlines()
        return {path for path, *_ in json.loads(json.loads(lines[-1])["files"])}

    def holders_of(self, batch: int) -> tuple[str, ...]:
        """Return the sinks that have all rows of a batch."""
        documents = self.documents_of(batch)
        wanted = Counter(row for row in self.expected() if row[_DOCUMENT] in documents)
        assert wanted, f"batch {batch} has no rows"
        return tuple(kind for kind in self.sinks if not wanted - Counter(self._rows_in(kind)))

    def differences(self) -> dict[str, tuple[int, int]]:
        """Return by sink how many rows are lost and how many are there too often."""
        wanted = Counter(self.expected())
        found = {kind: Counter(self._rows_in(kind)) for kind in self.sinks}
        return {
            kind: ((wanted - rows).total(), (rows - wanted).total()) for kind, rows in found.items()
        }

    def expected(self) -> list[Row]:
        """Return what the engine finds in all documents, in this process."""
        registry = penstock.Registry.open(self.folder / "subscriptions")
        paths = sorted((self.folder / "inbox").iterdir())
        rows = penstock.Engine(registry).run(penstock.Document(path) for path in paths)
        return [engine_row(row) for row in rows]

    def _rows_in(self, kind: str) -> list[Row]:
        return rows_in(kind, self.folder / "out" / kind)
