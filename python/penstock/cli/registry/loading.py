"""``penstock registry load``: many subscriptions from files of lines."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli import exits
from penstock.cli.advice import typed

if TYPE_CHECKING:
    from penstock.registry.loading.load import LoadReport


def add_actions(actions: Any) -> None:
    """Add the action to the others."""
    load = actions.add_parser(
        "load",
        examples=(
            "penstock registry load rules.csv --into rules",
            "penstock registry load --replace rules.jsonl more.jsonl --into rules",
        ),
        help="load subscriptions from lines of JSON or CSV",
        description="Load subscriptions, one to a line: JSON objects, or CSV with a first line of\n"
        "column names, in files that end in .csv. Fields: name, query, language, mode, owner,\n"
        "delivery, namespaces, variables, select, dialect, context. Bad lines are reported on\n"
        "stderr, the others are loaded.",
    )
    load.add_argument("file", metavar="FILE", nargs="+", help="a file of lines")
    load.add_argument("--into", metavar="FOLDER", required=True, help="the registry")
    load.add_argument("--replace", action="store_true", help="lines replace what has their names")
    load.add_argument("--workers", type=int, metavar="N", help="processes; all cores without it")
    load.add_argument("--quiet", action="store_true", help="no progress and no summary")
    load.set_defaults(run=run_load)


def run_load(options: argparse.Namespace) -> int:
    """Load files.

    Raises:
        OSError: A file cannot be read.
        RegistryError: The folder is no registry, or a file has no columns.
    """
    from penstock.registry.durable import DurableRegistry

    registry = DurableRegistry(options.into)
    failed = 0
    for file in options.file:
        with _watching(file, options.quiet) as watch:
            report = registry.load(
                file,
                replace=options.replace,
                workers=options.workers,
                watch=watch,
                on_error=lambda error, file=file: print(
                    f"{file}: {typed(str(error))}", file=sys.stderr
                ),  # type: ignore[misc]
            )
        failed += report.failed
        if not options.quiet:
            print(f"{file}: {_summary(report)}", file=sys.stderr)
    return exits.DOCUMENTS_FAILED if failed else exits.DONE


def _summary(report: LoadReport) -> str:
    parts = [f"{report.added} added", f"{report.replaced} replaced", f"{report.failed} failed"]
    return ", ".join(part for part in parts if not part.startswith("0 ")) or "nothing to load"


@contextmanager
def _watching(file: str, is_quiet: bool) -> Iterator[Callable[[LoadReport], None] | None]:
    """Give what shows a load under way: a bar on a terminal, else nothing."""
    if is_quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[count]}"))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("loading", total=os.path.getsize(file), count="")

        def show(report: LoadReport) -> None:
            count = f"{report.added + report.replaced:,} loaded, {report.failed:,} failed"
            progress.update(task, completed=report.bytes_read, count=count)

        yield show
