"""The main job on a laptop: a stream of feeds, payments and alerts through a few dozen queries.

`make demo` runs it: a pipeline on Spark in local mode, in several micro-batches, with a durable
registry, a checkpoint, and results and quarantine as JSON in `out/demo`. Without Java the same
subscriptions run over the same documents in this process.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sample_data import write_documents
from subscriptions import fill

import penstock
from penstock.spark.runtime import missing

FOLDER = Path("out/demo")
DOCUMENTS = 1500
DOCUMENTS_PER_BATCH = 300
SHOWN_FAULTS = 8

PIPELINE = f"""\
name: demo
sources:
  - kind: files
    path: documents
    options:
      maxFilesPerTrigger: {DOCUMENTS_PER_BATCH}
registry: subscriptions
sinks:
  - kind: json
    path: results
  - kind: json
    path: quarantine
    rows: quarantine
trigger: available_now
checkpoint: checkpoint
spark:
  master: local[2]
"""

Row = dict[str, Any]


def main() -> int:
    console = Console()
    documents = FOLDER / "documents"
    shutil.rmtree(FOLDER, ignore_errors=True)
    documents.mkdir(parents=True)
    registry = penstock.Registry.open(FOLDER / "subscriptions")
    with registry.changes():
        fill(registry)
    paths = list(write_documents(documents, DOCUMENTS))
    started = time.perf_counter()
    reason = missing()
    if reason is None:
        how = "Spark, local[2]"
        rows = run_on_spark(console, len(registry))
    else:
        console.print(f"{reason}. Until then the demo runs in this process.")
        how = "this process"
        rows = run_here(console, registry, paths)
    seconds = time.perf_counter() - started

    results = [row for row in rows if row["kind"] != "error"]
    faults = [row for row in rows if row["kind"] == "error"]
    console.print(results_table([one.name for one in registry], results))
    console.print(faults_table(faults))
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    console.print(
        f"{len(paths):,} documents, {megabytes:.1f} MB on disk, each read once, in {seconds:.1f} s "
        f"on {how}: {len(results):,} results, {len(faults)} documents in quarantine."
    )
    console.print(f"Everything is in {FOLDER}: documents, pipeline.yaml, results, quarantine.")
    return 0 if results and faults else 1


def run_on_spark(console: Console, subscriptions: int) -> list[Row]:
    """Run the pipeline and return its rows."""
    from penstock.spark.pipelines import Outcome, load, run
    from penstock.spark.pipelines.sessions import start

    (FOLDER / "pipeline.yaml").write_text(PIPELINE)
    pipeline = load(FOLDER / "pipeline.yaml")
    with console.status("starting Spark"):
        spark = start(pipeline)
    try:
        with watched(console, subscriptions) as advance:

            def watch(outcome: Outcome) -> None:
                advance(outcome.documents, outcome.describe())

            run(pipeline, spark, watch)
    finally:
        spark.stop()
    return [*read_rows(FOLDER / "results"), *read_rows(FOLDER / "quarantine")]


def read_rows(folder: Path) -> Iterator[Row]:
    """Yield what a sink wrote."""
    for path in sorted(folder.rglob("*.json")):
        with path.open() as lines:
            yield from map(json.loads, lines)


def run_here(console: Console, registry: penstock.Registry, paths: list[Path]) -> list[Row]:
    """Run the subscriptions in this process and return the rows."""
    rows: list[Row] = []
    with watched(console, len(registry)) as advance, (FOLDER / "rows.jsonl").open("w") as out:

        def read() -> Iterator[Path]:
            for number, path in enumerate(paths, 1):
                yield path
                advance(number, "")

        for row in penstock.Engine(registry).run(read()):
            print(row.as_json(), file=out)
            rows.append(row.as_dict())
    return rows


@contextmanager
def watched(console: Console, subscriptions: int) -> Iterator[Callable[[int, str], None]]:
    """Show a bar; the function given moves it."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=console,
    )
    with progress:
        task = progress.add_task(f"{subscriptions} subscriptions", total=DOCUMENTS, note="")
        yield lambda count, note: progress.update(task, completed=count, note=note)


def results_table(names: list[str], results: list[Row]) -> Table:
    table = Table("subscription", "results", "one of them", title="Results")
    table.columns[1].justify = "right"
    by_name: dict[str, list[Row]] = {name: [] for name in names}
    for row in results:
        by_name[row["subscription"]].append(row)
    for name, rows in by_name.items():
        sample = (rows[0].get("value") or "the document matches") if rows else ""
        table.add_row(name, f"{len(rows):,}", shorten(" ".join(sample.split()), 60))
    return table


def faults_table(faults: list[Row]) -> Table:
    table = Table("document", "code", "reason", "byte", "line", title="Quarantine")
    for row in faults[:SHOWN_FAULTS]:
        fault = row["error"]
        where = (str(fault["byte"]), str(fault["line"]))
        name = Path(row["document"]).name
        table.add_row(name, fault["code"], shorten(fault["reason"], 60), *where)
    if len(faults) > SHOWN_FAULTS:
        table.add_row(f"… {len(faults) - SHOWN_FAULTS} more", "", "", "", "")
    return table


def shorten(text: str, width: int) -> str:
    # Square brackets are markup to rich.
    short = text if len(text) <= width else text[: width - 1] + "…"
    return short.replace("[", "\\[")


if __name__ == "__main__":
    sys.exit(main())
