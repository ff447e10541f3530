"""How long a peer is waited for: one mechanism for all benchmarks.

A peer runs in a process of its own. One that is missing, dies, or gives no reply within its time
is named in the result, as ``{"error": reason}``, and is not asked the same again: the run goes on.
Its whole process group ends with its time, so that nothing it started keeps the run waiting.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SECONDS_MAX = 60.0
"""For one reply of a peer, unless an experiment says otherwise."""

Reply = dict[str, Any]


def too_slow(seconds_max: float) -> str:
    """Return why there is no reply."""
    return f"no reply within {seconds_max:g} s"


def ask(module: str, request: Reply, seconds_max: float = SECONDS_MAX) -> Reply:
    """Return the reply of a fresh process, or `{"error": reason}` if it gave none."""
    return _reply([sys.executable, "-m", module, json.dumps(request)], seconds_max)


def attempt(
    function: Callable[..., Any], *arguments: Any, seconds_max: float = SECONDS_MAX
) -> Reply:
    """Return what a function of a module gives in a fresh process, or `{"error": reason}`.

    Arguments and reply go there and back as JSON.
    """
    place = [function.__module__, function.__qualname__, json.dumps(arguments)]
    return _reply([sys.executable, "-m", __name__, *place], seconds_max)


class Patience:
    """Asks every peer every question once, if that is enough to know that it does not answer."""

    def __init__(self, seconds_max: float = SECONDS_MAX) -> None:
        self._seconds_max = seconds_max
        self._failed: dict[Hashable, str] = {}

    def ask(self, question: Hashable, module: str, request: Reply) -> Reply:
        """Return the reply to a request about a question, or why there is none."""
        reason = self._failed.get(question)
        if reason is not None:
            return {"error": reason}
        reply = ask(module, request, self._seconds_max)
        if "error" in reply:
            self._failed[question] = reply["error"]
        return reply


def _reply(command: list[str], seconds_max: float) -> Reply:
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=seconds_max)
    except subprocess.TimeoutExpired:
        return {"error": too_slow(seconds_max)}
    finally:
        end_group(process)
    if process.returncode != 0:
        lines = errors.strip().splitlines() or [f"it ended with code {process.returncode}"]
        return {"error": lines[-1]}
    try:
        reply: Reply = json.loads(output)
    except ValueError:
        return {"error": "its reply is no JSON"}
    return reply


def end_group(process: "subprocess.Popen[str]") -> None:
    """End a process that leads a group, and all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


@contextmanager
def cancelling(spark: Any, seconds_max: float) -> Iterator[None]:
    """Cancel the jobs of a Spark session that take longer; the block then raises TimeoutError."""
    is_over = threading.Event()

    def cancel() -> None:
        is_over.set()
        spark.sparkContext.cancelAllJobs()

    timer = threading.Timer(seconds_max, cancel)
    timer.start()
    try:
        yield
    except Exception as error:
        if is_over.is_set():
            raise TimeoutError(too_slow(seconds_max)) from error
        raise
    finally:
        timer.cancel()


if __name__ == "__main__":
    # What a function prints is not part of its reply.
    answer_file, sys.stdout = sys.stdout, sys.stderr
    name, function_name, given = sys.argv[1:]
    json.dump(getattr(import_module(name), function_name)(*json.loads(given)), answer_file)
