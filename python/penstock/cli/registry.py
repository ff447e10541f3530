"""``penstock registry``: subscriptions in a folder, loaded from files and looked at."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from penstock.cli import exits

if TYPE_CHECKING:
    from penstock.registry.load import LoadReport


def add_parser(commands: Any) -> None:
    """Add the command to the others."""
    parser = commands.add_parser(
        "registry",
        help="load subscriptions into a folder, and look at them",
        description="Load subscriptions into a durable registry, and look at them.",
    )
    actions = parser.add_subparsers(metavar="ACTION", required=True)
    load = actions.add_parser(
        "load",
        help="load subscriptions from lines of JSON or CSV",
        description="Load subscriptions, one to a line: JSON objects, or CSV with a first line of "
        "column names, in files that end in .csv. Fields: name, query, language, mode, owner, "
        "delivery, namespaces, variables, dialect. Bad lines are told on stderr, the others are "
        "loaded.",
    )
    load.add_argument("file", metavar="FILE", nargs="+", help="a file of lines")
    load.add_argument("--into", metavar="FOLDER", required=True, help="the registry")
    load.add_argument("--replace", action="store_true", help="lines replace what has their names")
    load.add_argument("--workers", type=int, metavar="N", help="processes; all cores without it")
    load.add_argument("--quiet", action="store_true", help="no progress and no summary")
    load.set_defaults(run=run_load)
    show = actions.add_parser("show", help="say how much is in a registry")
    show.add_argument("folder", metavar="FOLDER", help="the registry")
    show.set_defaults(run=run_show)


def run_load(options: argparse.Namespace) -> int:
    """Load files.

    Raises:
        OSError: A file cannot be read.
        RegistryError: The folder is no registry, or a file has no columns.
    """
    from penstock.registry import Registry

    registry = Registry.open(options.into)
    failed = 0
    for file in options.file:
        with _watching(file, options.quiet) as watch:
            report = registry.load(
                file,
                replace=options.replace,
                workers=options.workers,
                watch=watch,
                on_error=lambda error, file=file: print(f"{file}: {error}", file=sys.stderr),  # type: ignore[misc]
            )
        failed += report.failed
        if not options.quiet:
            print(f"{file}: {_summary(report)}", file=sys.stderr)
    return exits.DOCUMENTS_FAILED if failed else exits.DONE


def run_show(options: argparse.Namespace) -> int:
    """Print what is in a registry.

    Raises:
        OSError: There is none.
        RegistryError: The folder is no registry.
    """
    from penstock.registry import Registry

    if not os.path.isdir(options.folder):
        raise FileNotFoundError(f"there is no registry {options.folder}")
    registry = Registry.open(options.folder)
    snapshot = registry.snapshot()
    spines, formulas, guards, targets = snapshot.plan.sizes()
    print(f"subscriptions {len(registry)}")
    print(f"version       {snapshot.version}")
    print(f"tiers         {snapshot.plan.tier_count()}")
    print(f"questions     {targets}")
    print(f"steps         {spines}")
    print(f"conditions    {formulas}")
    print(f"guards        {guards}")
    return exits.DONE


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
