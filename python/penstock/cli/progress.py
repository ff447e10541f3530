"""How far reading has come, on a terminal, for somebody who watches."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from penstock.results import Document

STDIN = "-"


@contextmanager
def documents(names: Sequence[str], *, is_quiet: bool) -> Iterator[Iterator[Document]]:
    """Give the documents that the names stand for, ``-`` being standard input.

    Their reading is shown if stderr is a terminal and results do not go to one as well.
    """
    if is_quiet or not sys.stderr.isatty() or sys.stdout.isatty():
        yield (_document(name) for name in names)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, TransferSpeedColumn(), console=Console(stderr=True), transient=True
    ) as progress:
        task = progress.add_task("reading", total=_total(names))

        def watched() -> Iterator[Document]:
            for name in names:
                if name == STDIN:
                    yield _document(name)
                else:
                    file = _Watched(name, lambda count: progress.advance(task, count))
                    yield Document(cast(BinaryIO, file), id=name)

        yield watched()


def _document(name: str) -> Document:
    if name == STDIN:
        return Document(sys.stdin.buffer, id=STDIN)
    return Document(Path(name), id=name)


def _total(names: Sequence[str]) -> int | None:
    try:
        return sum(os.path.getsize(name) for name in names)
    except OSError:
        return None


class _Watched:
    """A file that is opened by its first read and tells how much was read."""

    def __init__(self, path: str, advance: Any) -> None:
        self._path = path
        self._advance = advance
        self._file: IO[bytes] | None = None

    def read(self, size: int) -> bytes:
        if self._file is None:
            self._file = open(self._path, "rb", buffering=0)  # noqa: SIM115  # closed at its end
        piece = self._file.read(size)
        self._advance(len(piece))
        if not piece:
            self._file.close()
        return piece
