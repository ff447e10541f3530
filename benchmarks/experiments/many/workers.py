"""Processes that hold one system each and are asked in turn."""

import json
import subprocess
import sys
import tempfile
import threading
from types import TracebackType
from typing import Any

from benchmarks.patience import ROOT, end_group, too_slow

PATIENCE_SECONDS = 900.0
"""A million queries take a while to load."""
MODULE = "benchmarks.experiments.many.worker"


class WorkerProcess:
    """A measuring process; a reply that does not come is an error, and the end of it."""

    def __init__(self, peer: str, module: str | None = None, python: str = sys.executable) -> None:
        self.peer = peer
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the process
        self._process = subprocess.Popen(
            [python, "-m", module or MODULE],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            start_new_session=True,
        )

    def ask(self, do: str, **request: Any) -> dict[str, Any]:
        """Return the reply to a request, or `{"error": reason}`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        is_over = threading.Event()

        def end() -> None:
            is_over.set()
            self._process.kill()

        patience = threading.Timer(PATIENCE_SECONDS, end)
        patience.start()
        try:
            print(json.dumps({"do": do, **request}), file=self._process.stdin, flush=True)
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            patience.cancel()
        if is_over.is_set():
            return {"error": too_slow(PATIENCE_SECONDS)}
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()
            return {"error": said[-1] if said else f"ended with code {code} at `{do}`"}
        reply: dict[str, Any] = json.loads(line)
        return reply

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        end_group(self._process)
        self._errors.close()
