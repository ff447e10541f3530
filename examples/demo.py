"""A first job: a dozen subscriptions over feeds, payments and alerts, all in one pass.

`make demo` runs it. Sample documents and results go to `out/demo`.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sample_data import ATOM, CAP, write_documents

import penstock

FOLDER = Path("out/demo")
DOCUMENTS = 600
SHOWN_FAULTS = 8

NAMESPACES = {
    "atom": ATOM,
    "cap": CAP,
    # Two versions of one schema, and those to come: a prefix may stand for a pattern.
    "pay": "urn:iso:std:iso:20022:tech:xsd:pacs.008.*",
}

SUBSCRIPTIONS = {
    "titles about dams": "//atom:entry[atom:category/@term = 'dams']/atom:title",
    "locks in the text": "//atom:entry[contains(atom:content, 'locks locks')]/atom:id/text()",
    "entries per feed": "count(/atom:feed/atom:entry)",
    "large transfers": "//pay:CdtTrfTxInf[pay:IntrBkSttlmAmt > 100000]",
    "large in francs": "//pay:CdtTrfTxInf[pay:IntrBkSttlmAmt[@Ccy = 'CHF'] > 50000]/pay:PmtId",
    "paid by Chur": "//pay:CdtTrfTxInf[pay:Dbtr/pay:Nm = 'Chur Works']/pay:Cdtr/pay:Nm/text()",
    "total per message": "sum(//pay:IntrBkSttlmAmt)",
    "dollars seen": "boolean(//pay:IntrBkSttlmAmt[@Ccy = 'USD'])",
    "severe alerts": "/cap:alert[cap:info[cap:severity = 'Severe' or cap:severity = 'Extreme']]",
    "areas at risk": "/cap:alert[cap:status = 'Actual']/cap:info[cap:severity != 'Minor']"
    "/cap:area/cap:areaDesc/text()",
    "anything in Gap": "//*[cap:areaDesc = 'Gap' or contains(atom:title, 'Gap')]",
}
FILTERS = {"is an exercise": "/cap:alert[cap:status = 'Exercise']"}


def main() -> int:
    console = Console()
    documents = FOLDER / "documents"
    shutil.rmtree(FOLDER, ignore_errors=True)
    documents.mkdir(parents=True)
    registry = penstock.Registry()
    for name, query in SUBSCRIPTIONS.items():
        registry.add(name, penstock.xpath(query, namespaces=NAMESPACES))
    for name, query in FILTERS.items():
        registry.add(name, penstock.xpath(query, namespaces=NAMESPACES), mode="filter")
    paths = list(write_documents(documents, DOCUMENTS))

    counts: Counter[str] = Counter()
    samples: dict[str, str] = {}
    faults: list[penstock.Result] = []
    started = time.perf_counter()
    with progress_bar(console) as progress, (FOLDER / "results.jsonl").open("w") as out:
        task = progress.add_task(f"{len(registry)} subscriptions", total=len(paths))

        def watched() -> Iterator[Path]:
            for path in paths:
                yield path
                progress.advance(task)

        for row in penstock.Engine(registry).run(watched()):
            print(row.as_json(), file=out)
            if row.subscription is None:
                faults.append(row)
            else:
                counts[row.subscription] += 1
                samples.setdefault(row.subscription, row.value or "the document matches")
    seconds = time.perf_counter() - started

    console.print(results_table(registry, counts, samples))
    console.print(faults_table(faults))
    megabytes = sum(path.stat().st_size for path in paths) / 1e6
    console.print(
        f"{len(paths)} documents, {megabytes:.1f} MB on disk, read once in {seconds:.2f} s: "
        f"{counts.total()} results, {len(faults)} documents set aside."
    )
    console.print(f"Every row: {FOLDER / 'results.jsonl'}    Documents: {documents}")
    return 0 if counts.total() and faults else 1


def progress_bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("documents"),
        TimeElapsedColumn(),
        console=console,
    )


def results_table(
    registry: penstock.Registry, counts: Counter[str], samples: dict[str, str]
) -> Table:
    table = Table("subscription", "results", "the first one", title="Results")
    table.columns[1].justify = "right"
    for subscription in registry:
        sample = " ".join(samples.get(subscription.name, "").split())
        table.add_row(subscription.name, str(counts[subscription.name]), shorten(sample, 60))
    return table


def faults_table(faults: list[penstock.Result]) -> Table:
    table = Table("document", "code", "reason", "byte", "line", title="Quarantine")
    for row in faults[:SHOWN_FAULTS]:
        if row.error is not None:
            fault = row.error
            where = (str(fault.byte), str(fault.line))
            table.add_row(Path(row.document).name, fault.code, shorten(fault.reason, 60), *where)
    if len(faults) > SHOWN_FAULTS:
        table.add_row(f"… {len(faults) - SHOWN_FAULTS} more", "", "", "", "")
    return table


def shorten(text: str, width: int) -> str:
    # Square brackets are markup to rich.
    short = text if len(text) <= width else text[: width - 1] + "…"
    return short.replace("[", "\\[")


if __name__ == "__main__":
    sys.exit(main())
