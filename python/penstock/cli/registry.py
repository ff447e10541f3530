"""``penstock registry``: subscriptions in a folder, loaded from files and looked at."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.cli import exits

if TYPE_CHECKING:
    from penstock.registry.durable import DurableRegistry
    from penstock.registry.loading.load import LoadReport


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
    top = actions.add_parser(
        "top",
        help="say which subscriptions cost most",
        description="Run a registry over documents and print the subscriptions that cost most. "
        "Matches are counted, the work is sampled. Subscriptions that pass a limit alone at three "
        "documents in a row are suspended, and shown in any case.",
    )
    top.add_argument("folder", metavar="FOLDER", help="the registry")
    top.add_argument("file", metavar="FILE", nargs="+", help="documents")
    top.add_argument("--count", type=int, default=10, metavar="K", help="so many; 10 without it")
    top.add_argument("--by", choices=("cost", "matches"), default="cost", help="what ranks them")
    top.add_argument("--json", action="store_true", help="one JSON object to a line")
    top.set_defaults(run=run_top)
    for name, what, run in (
        ("verify", "read everything in a registry, and say what is damaged", run_verify),
        ("repair", "build again what can be, and say what is lost", run_repair),
    ):
        action = actions.add_parser(name, help=what, description=f"{what.capitalize()}.")
        action.add_argument("folder", metavar="FOLDER", help="the registry")
        action.set_defaults(run=run)
    show = actions.add_parser("show", help="say how much is in a registry")
    show.add_argument("folder", metavar="FOLDER", help="the registry")
    show.set_defaults(run=run_show)


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
    registry = _existing(options.folder)
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


def run_verify(options: argparse.Namespace) -> int:
    """Print what is damaged in a registry; nothing is changed.

    Raises:
        OSError: There is none.
        RegistryError: The folder is no registry.
    """
    from penstock.registry.storage.verify import verify

    found = verify(_folder(options.folder))
    for finding in found.findings:
        print(finding)
    if found.findings:
        return exits.DOCUMENTS_FAILED
    print(f"sound: {found.subscriptions} subscriptions, version {found.version}")
    return exits.DONE


def run_repair(options: argparse.Namespace) -> int:
    """Repair a registry, and print what was damaged and what is lost.

    Raises:
        OSError: There is none, or it cannot be written.
        RegistryError: The folder is no registry, or is in use.
    """
    from penstock.registry.storage.repair import repair

    report = repair(_folder(options.folder))
    for finding in report.findings:
        print(f"damaged: {finding}")
    losses = report.losses
    for name in losses.names:
        print(f"lost: {name}")
    for name in losses.uncertain:
        print(f"active again, and maybe removed before: {name}")
    if losses.versions:
        count, first, last = len(losses.versions), losses.versions[0], losses.versions[-1]
        print(f"versions lost: {count}, from {first} to {last}")
    if losses.rows:
        print(f"rows lost: {losses.rows}, with subscriptions that had been removed")
    if report.copy is not None:
        print(f"copies of the files as they were: {report.copy}")
    print(f"sound: {report.subscriptions} subscriptions, version {report.version}")
    return exits.DONE if report.is_complete else exits.DOCUMENTS_FAILED


def run_top(options: argparse.Namespace) -> int:
    """Print the subscriptions that cost most.

    Raises:
        OSError: There is no registry.
        RegistryError: The folder is no registry.
    """
    from penstock.engine import Engine

    engine = Engine(_existing(options.folder))
    failed = 0
    for file in options.file:
        failed += sum(row.kind == "error" for row in engine.run(Path(file)))
    statistics, suspended = engine.statistics(), engine.suspended()
    ranked = statistics.top(options.count, options.by)
    # Who is suspended is shown, wherever it ranks.
    shown = {used.name for used in ranked}
    ranked += [statistics.of(name) for name in sorted(suspended) if name not in shown]
    if not options.json:
        print(f"{'cost':>6}  {'matches':>9}  {'last match':<20}  name")
    for used in ranked:
        last = "" if used.last_match is None else used.last_match.strftime("%Y-%m-%dT%H:%M:%SZ")
        why = suspended.get(used.name)
        if options.json:
            fields = {"name": used.name, "matches": used.matches, "last_match": last or None}
            reason = None if why is None else str(why)
            print(json.dumps({**fields, "cost_share": used.cost_share, "suspended": reason}))
        else:
            note = "" if why is None else f"  suspended: {why}"
            print(f"{used.cost_share:>6.1%}  {used.matches:>9}  {last:<20}  {used.name}{note}")
    return exits.DOCUMENTS_FAILED if failed else exits.DONE


def _existing(folder: str) -> DurableRegistry:
    from penstock.registry.durable import DurableRegistry

    return DurableRegistry(_folder(folder))


def _folder(folder: str) -> Path:
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no registry {folder}")
    return Path(folder)


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
