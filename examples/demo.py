"""A first job on a laptop: feeds, payments and alerts through a few dozen queries.

`make demo` runs it in four steps: the engine in this process, with its own speed; the payments as
a table with typed columns; one join between documents; and the same queries as a pipeline on
Spark, in several micro-batches, with a durable registry, a checkpoint, and results and quarantine
as JSON in `out/demo`. Without Java the last step is left out.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sample_data import write_documents
from subscriptions import NAMESPACES, fill

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

JOIN = """\
SELECT x FROM default//cap:alert[cap:info/cap:severity = 'Extreme'][.//cap:areaDesc->x]
FOLLOWED BY{x = y, 5 min}
default//cap:alert[cap:info/cap:severity = 'Severe'][.//cap:areaDesc->y]"""

TRANSFERS = {
    "message": "../GrpHdr/MsgId",
    "amount": ("IntrBkSttlmAmt", "decimal(18,2)"),
    "currency": "IntrBkSttlmAmt/@Ccy",
    "payer": "Dbtr/Nm",
    "payee": "Cdtr/Nm",
}

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
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    console.print(
        f"{len(paths):,} documents, {megabytes:.1f} MB on disk, in {documents}: feeds, payments "
        f"and alerts, one in fifty damaged. {len(registry)} subscriptions; each document is read "
        "once for all of them."
    )
    rows = run_here(console, registry, paths)
    table_here(console, paths)
    join_here(console, paths)
    reason = missing()
    if reason is None:
        on_spark = run_on_spark(console, len(registry), len(paths))
        is_same = len(on_spark) == len(rows)
        console.print(f"Spark gave {'the same' if is_same else 'ANOTHER'} number of rows.")
    else:
        is_same = True
        console.print(f"[bold]4. On Spark[/bold]: left out. {reason}.")
    return 0 if rows and is_same else 1


def run_here(console: Console, registry: penstock.Registry, paths: list[Path]) -> list[Row]:
    """Run the subscriptions in this process, show the results, and return the rows."""
    console.print("\n[bold]1. In this process[/bold]")
    engine = penstock.Engine(registry)
    started = time.perf_counter()
    found = list(engine.run(paths))
    seconds = time.perf_counter() - started
    rows = [row.as_dict() for row in found]
    with (FOLDER / "rows.jsonl").open("w") as out:
        out.writelines(row.as_json() + "\n" for row in found)
    results = [row for row in rows if row["kind"] != "error"]
    faults = [row for row in rows if row["kind"] == "error"]
    console.print(results_table([one.name for one in registry], results))
    console.print(faults_table(faults))
    console.print(
        f"{len(paths):,} documents in {seconds:.2f} s: {len(paths) / seconds:,.0f} documents/s, "
        f"{len(results):,} results, {len(faults)} documents in quarantine (rows of the kind "
        f"`error`). All rows are in {FOLDER / 'rows.jsonl'}."
    )
    return rows


def table_here(console: Console, paths: list[Path]) -> None:
    """Make a table of the payments: a row for each transfer, with the message beside it."""
    console.print("\n[bold]2. A table with typed columns[/bold]")
    console.print(f"A row for each //CdtTrfTxInf: {TRANSFERS}", markup=False)
    query = penstock.table(
        "//CdtTrfTxInf",
        TRANSFERS,
        namespaces={"": NAMESPACES["pay"]},
        on_error="quarantine",
    )
    registry = penstock.Registry()
    registry.add("transfers", query)
    payments = [path for path in paths if path.name.startswith("payment")]
    started = time.perf_counter()
    with warnings.catch_warnings():
        # Documents that fail were listed above.
        warnings.simplefilter("ignore", penstock.PenstockWarning)
        found = penstock.Engine(registry).table(payments)
    seconds = time.perf_counter() - started
    table = Table(
        *[f"{field.name}\n{field.type}" for field in found.schema if field.name in TRANSFERS]
    )
    for row in found.slice(0, 3).to_pylist():
        table.add_row(*[str(row[name]) for name in TRANSFERS])
    console.print(table)
    console.print(f"{found.num_rows:,} rows in {seconds:.2f} s, as a pyarrow.Table.")


def join_here(console: Console, paths: list[Path]) -> None:
    """Join alerts: an extreme one, followed by a severe one for the same place."""
    console.print("\n[bold]3. A join between documents[/bold]")
    console.print("An extreme alert, followed within five minutes by a severe one:")
    console.print(JOIN, markup=False)
    registry = penstock.Registry()
    registry.add("escalation", penstock.xscl(JOIN, namespaces=NAMESPACES))
    documents = (
        penstock.Document(path, id=path.name, time=10 * number)
        for number, path in enumerate(paths)
        if path.name.startswith("alert")
    )
    rows = [row for row in penstock.Engine(registry).run(documents) if row.error is None]
    for row in rows[:3]:
        console.print(f"  {' + '.join(row.documents or ())}: {row.value}", markup=False)
    console.print(f"{len(rows):,} pairs of alerts.")


def run_on_spark(console: Console, subscriptions: int, count: int) -> list[Row]:
    """Run the pipeline and return its rows."""
    console.print("\n[bold]4. The first step on Spark[/bold]: a stream in micro-batches, local[2]")
    from penstock.spark.pipelines import Outcome, load, run
    from penstock.spark.pipelines.sessions import start

    (FOLDER / "pipeline.yaml").write_text(PIPELINE)
    pipeline = load(FOLDER / "pipeline.yaml")
    began = time.perf_counter()
    with console.status("starting Spark"):
        spark = start(pipeline)
    started = time.perf_counter()
    try:
        with watched(console, subscriptions) as advance:

            def watch(outcome: Outcome) -> None:
                advance(outcome.documents, outcome.describe())

            run(pipeline, spark, watch)
        ended = time.perf_counter()
    finally:
        spark.stop()
    console.print(
        f"Spark started in {started - began:.1f} s and took {ended - started:.1f} s for {count:,} "
        "documents. Most of that is Spark's own work for each micro-batch: it pays off with many "
        "cores and large inputs. Results and quarantine are in "
        f"{FOLDER / 'results'} and {FOLDER / 'quarantine'}."
    )
    return [*read_rows(FOLDER / "results"), *read_rows(FOLDER / "quarantine")]


def read_rows(folder: Path) -> Iterator[Row]:
    """Yield what a sink wrote."""
    for path in sorted(folder.rglob("*.json")):
        with path.open() as lines:
            yield from map(json.loads, lines)


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
