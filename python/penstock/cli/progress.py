"""How far reading has come, on a terminal, for somebody who watches."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from penstock.cli.files import STDIN, Advance, size_of


@contextmanager
def progress(names: Sequence[str], *, is_shown: bool) -> Iterator[Advance | None]:
    """Give what reports reading of these files, if it is to be shown and stderr is a terminal."""
    if not is_shown or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    total = None if STDIN in names else sum(map(size_of, names))
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, TransferSpeedColumn(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("reading", total=total)
        yield lambda count: bar.advance(task, count)


def is_terminal_free(*, is_output_file: bool = False, is_printed_last: bool = False) -> bool:
    """Return whether no results are printed to the terminal while documents are read."""
    return is_output_file or is_printed_last or not sys.stdout.isatty()
