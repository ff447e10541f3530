"""Documents through an engine into a writer: what ``match`` does, in one process or in several."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import IO, Any

from penstock.cli.formats import JsonWriter, ParquetWriter, SheetWriter, columns_of
from penstock.cli.printing import CountingWriter, FragmentPrinter, TextStyle, complaint
from penstock.cli.streams import with_streams
from penstock.engine import Engine
from penstock.registry import AnyRegistry, MemoryRegistry
from penstock.results import Document, Fault
from penstock.twigs import Query


@dataclass(slots=True)
class Tally:
    """What was found, and what failed."""

    results: int = 0
    failures: int = 0
    matched: Counter[str] = field(default_factory=Counter)
    """How many results each subscription has, by name."""

    def add(self, other: Tally) -> None:
        """Add what another process counted."""
        self.results += other.results
        self.failures += other.failures
        self.matched += other.matched


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked, and in which form results are written; it pickles."""

    options: argparse.Namespace
    queries: tuple[tuple[str, Query], ...]
    has_files: bool
    """Whether results stand beside the names of their files."""

    def registry(self) -> AnyRegistry:
        """Return the subscriptions.

        Raises:
            RegistryError: Two queries have one name, or the folder is no registry.
        """
        if self.options.registry is not None:
            return MemoryRegistry.open(self.options.registry, create=False)
        registry = MemoryRegistry()
        for name, query in self.queries:
            registry.add(name, query)
        return registry

    def columns(self) -> list[str]:
        """Return the columns to write."""
        selected = [name for name, _ in self.options.select]
        return columns_of(self.options.columns, self.options.format, selected)

    @property
    def is_labelled(self) -> bool:
        """Whether results stand beside the names of their queries."""
        return self.options.registry is not None or len(self.queries) > 1


def match_documents(
    task: Task,
    engine: Engine,
    documents: Iterable[Document],
    out: IO[bytes],
    complain: Callable[[str], None],
    *,
    has_header: bool = True,
) -> Tally:
    """Write what documents give, while they are read, and return what there was.

    Raises:
        OSError: The output cannot be written.
    """
    source = with_streams(documents, task.options)
    if task.options.format == "parquet":
        return _match_batches(task, engine, source, out, complain)
    tally = Tally()
    writer = _writer(task, out)
    has_errors = getattr(writer, "has_errors", isinstance(writer, FragmentPrinter))
    if has_header and isinstance(writer, SheetWriter):
        writer.header()
    is_streamed = isinstance(writer, FragmentPrinter) and task.options.order != "document"
    for rows in engine.steps(source, task.options.order, parts=is_streamed):
        for row in rows:
            if row.error is None:
                writer.write(row)
                tally.results += 1
                tally.matched[row.subscription or ""] += 1
                continue
            if has_errors:
                writer.write(row)
            tally.failures += 1
            complain(_complaint(row.subscription, row.document, row.error))
        out.flush()
    writer.finish()
    out.flush()
    return tally


def _writer(task: Task, out: IO[bytes]) -> Any:
    options = task.options
    if options.count:
        return CountingWriter()
    match options.format:
        case "jsonl":
            lists = {name for name, written in options.select if isinstance(written, list)}
            return JsonWriter(out, task.columns(), lists)
        case "csv" | "tsv":
            return SheetWriter(out, task.columns(), options.format)
        case _:
            end = b"\0" if options.null else b"\n"
            return FragmentPrinter(out, TextStyle(task.has_files, task.is_labelled, end))


def _match_batches(
    task: Task, engine: Engine, source: Any, out: IO[bytes], complain: Callable[[str], None]
) -> Tally:
    from penstock import extras

    pc = extras.load("pyarrow.compute", "arrow")
    tally, writer = Tally(), ParquetWriter(out, task.columns())
    for batch in engine.batches(source, task.options.order):
        is_error = pc.equal(batch.column("kind"), "error")
        failed = batch.filter(is_error).select(["subscription", "document", "error"]).to_pylist()
        for row in failed:
            complain(_complaint(row["subscription"], row["document"], Fault(**row["error"])))
        tally.failures += len(failed)
        tally.results += len(batch) - len(failed)
        counted = pc.value_counts(batch.filter(pc.invert(is_error)).column("subscription"))
        for entry in counted.to_pylist():
            tally.matched[entry["values"]] += entry["counts"]
        writer.write_batch(batch)
    writer.finish()
    return tally


def _complaint(subscription: str | None, document: str, fault: Fault) -> str:
    line = complaint(document, fault)
    return line if subscription is None else f"{line} (subscription {subscription})"
