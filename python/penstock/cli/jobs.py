"""Several processes that match files; what they write is put together in the order of the files."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import IO, NamedTuple

from penstock.cli.files import Advance, documents, size_of
from penstock.cli.formats import ParquetWriter, SheetWriter
from penstock.cli.matching import Tally, Task, match_documents
from penstock.cli.options import intake_of
from penstock.engine import Engine
from penstock.errors import PenstockWarning

_PART_BYTES = 16 << 20
_PART_FILES = 256
_AHEAD = 3
"""Parts per process that are under way or wait to be written: more would only fill the disk."""


class _Part(NamedTuple):
    path: str
    tally: Tally
    complaints: list[str]
    size: int


def match_in_processes(
    task: Task,
    names: list[str],
    out: IO[bytes],
    complain: Callable[[str], None],
    advance: Advance | None,
) -> Tally:
    """Write what files give, matched by ``--jobs`` processes, as one process would write it.

    Raises:
        OSError: The output cannot be written, or a process ended by itself.
    """
    whole, jobs = Tally(), task.options.jobs
    merge = _Merging(task, out)
    with (
        tempfile.TemporaryDirectory(prefix="penstock-") as folder,
        ProcessPoolExecutor(jobs, get_context("spawn"), _begin, (task,)) as pool,
    ):
        waiting: deque[Future[_Part]] = deque()

        def take() -> None:
            part = waiting.popleft().result()
            merge.add(part.path)
            os.unlink(part.path)
            whole.add(part.tally)
            for line in part.complaints:
                complain(line)
            if advance is not None:
                advance(part.size)

        try:
            for number, chosen in enumerate(_parts(names, jobs)):
                path = os.path.join(folder, f"part-{number}")
                waiting.append(pool.submit(_match_part, path, chosen))
                if len(waiting) > _AHEAD * jobs:
                    take()
            while waiting:
                take()
        except BrokenProcessPool:
            raise OSError("a process that matches files ended by itself") from None
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    merge.finish()
    return whole


def _parts(names: Iterable[str], jobs: int) -> Iterator[list[str]]:
    """Yield the files in parts, several for each process where there are enough."""
    sized = [(name, size_of(name)) for name in names]
    files_max = max(1, min(_PART_FILES, len(sized) // (2 * jobs)))
    part: list[str] = []
    total = 0
    for name, size in sized:
        if part and (len(part) >= files_max or total + size > _PART_BYTES):
            yield part
            part, total = [], 0
        part.append(name)
        total += size
    if part:
        yield part


class _Merging:
    """Parts, one behind the other."""

    def __init__(self, task: Task, out: IO[bytes]) -> None:
        self._out = out
        self._parquet = (
            ParquetWriter(out, task.columns()) if task.options.format == "parquet" else None
        )
        if task.options.format in ("csv", "tsv"):
            SheetWriter(out, task.columns(), task.options.format).header()

    def add(self, path: str) -> None:
        """Add what a process wrote."""
        if self._parquet is None:
            with open(path, "rb") as part:
                shutil.copyfileobj(part, self._out, 1 << 20)
            self._out.flush()
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(path) as part:
            for batch in part.iter_batches():
                self._parquet.write_table(pa.Table.from_batches([batch]))

    def finish(self) -> None:
        """End the output."""
        if self._parquet is not None:
            self._parquet.finish()


_engine: tuple[Task, Engine] | None = None
"""What a process matches with, for all its parts."""


def _begin(task: Task) -> None:
    global _engine
    warnings.simplefilter("ignore", PenstockWarning)
    _engine = (task, Engine(task.registry(), **intake_of(task.options)))


def _match_part(path: str, names: list[str]) -> _Part:
    assert _engine is not None
    task, engine = _engine
    complaints: list[str] = []
    with open(path, "wb") as out:
        found = documents(names)
        tally = match_documents(task, engine, found, out, complaints.append, has_header=False)
    return _Part(path, tally, complaints, sum(map(size_of, names)))
