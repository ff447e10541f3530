"""Processes that compile chunks of lines, in order.

Each is a separate interpreter that is reached over pipes, so neither the threads nor the main
module of the loading program matter.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO, Any

from penstock.errors import RegistryError
from penstock.registry.loading.lines import Chunk, CompiledChunk, compile_chunk

AHEAD = 3
"""Chunks per worker that are read ahead; more would only fill memory."""
_COMMAND = "from penstock.registry.loading.workers import work; work()"


def core_count() -> int:
    """Return how many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def compile_chunks(chunks: Iterable[Chunk], workers: int) -> Iterator[CompiledChunk]:
    """Yield compiled chunks in order, compiled by ``workers`` processes.

    Raises:
        RegistryError: A process ended before its work was done.
    """
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(_Worker()) for _ in range(workers)]
        pool = stack.enter_context(ThreadPoolExecutor(workers))

        def compile_one(chunk: Chunk) -> CompiledChunk:
            worker = idle.pop()
            try:
                return worker.compile(chunk)
            finally:
                idle.append(worker)

        waiting: deque[Future[CompiledChunk]] = deque()
        for chunk in chunks:
            waiting.append(pool.submit(compile_one, chunk))
            if len(waiting) > AHEAD * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class _Worker:
    """One process."""

    def __enter__(self) -> _Worker:
        paths = os.pathsep.join(path for path in sys.path if path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": paths},
        )
        return self

    def __exit__(self, *_: object) -> None:
        with self._process:
            self._process.kill()

    def compile(self, chunk: Chunk) -> CompiledChunk:
        try:
            _send(self._process.stdin, chunk)
            compiled: CompiledChunk = pickle.load(self._process.stdout)  # type: ignore[arg-type]
            return compiled
        except (OSError, EOFError) as error:
            message = f"a process that compiles ended by itself: {self._process.poll()}"
            raise RegistryError("PR0021", message) from error


def work() -> None:
    """Compile chunks until the input ends."""
    with contextlib.suppress(EOFError, BrokenPipeError, KeyboardInterrupt):
        while True:
            _send(sys.stdout.buffer, compile_chunk(pickle.load(sys.stdin.buffer)))


def _send(pipe: IO[Any] | None, message: object) -> None:
    assert pipe is not None
    pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()
