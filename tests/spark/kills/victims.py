"""Processes that are made to be killed: a driver with its Java and its workers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from tests.spark.helpers.servers import ROOT, START_SECONDS_MAX, surroundings
from tests.spark.kills.holds import Hold

RUN_SECONDS_MAX = 1800.0
HOOKS = Path(__file__).parent / "hooks"
_POLL_SECONDS = 0.02
_EAGER_POLL_SECONDS = 0.0002
"""Spark's temporary files live for a few milliseconds."""


BRIEF_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""It lives for seconds or minutes, which are better not spent on optimising."""


class Victim:
    """``python -m`` with some arguments, until it is killed or ends by itself.

    What a killed Spark leaves behind lies in the folder, beside the log of all runs.
    """

    def __init__(self, arguments: Sequence[str], folder: Path, hold: Hold | None = None) -> None:
        self._log = folder / "driver.log"
        more: Mapping[str, str] = {
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "JAVA_TOOL_OPTIONS": BRIEF_JAVA,
        }
        if hold is not None:
            path = os.pathsep.join([str(HOOKS), surroundings({})["PYTHONPATH"]])
            more = {**more, **hold.environment(), "PYTHONPATH": path}
        with open(self._log, "ab") as log:
            log.write(f"--- {' '.join(arguments)}\n".encode())
            self._process = subprocess.Popen(
                [sys.executable, "-m", *arguments],
                cwd=ROOT,
                env=surroundings(more),
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def has_java(self) -> bool:
        """Whether its Java runs."""
        return any(_command(one).startswith("java") for one in self._members())

    def wait_until(self, claim: Callable[[], bool], *, is_brief: bool = False) -> None:
        """Return when something holds; the process has to live that long.

        A claim that holds for a brief time only is looked at more often.
        """
        deadline = time.monotonic() + START_SECONDS_MAX
        while not claim():
            assert self._process.poll() is None, f"it ended by itself: {self._said()}"
            assert time.monotonic() < deadline, f"it makes no progress: {self._said()}"
            time.sleep(_EAGER_POLL_SECONDS if is_brief else _POLL_SECONDS)

    def terminate(self, *, is_group: bool = False) -> None:
        """Ask it to stop, or it and its Java, as a service manager does."""
        (os.killpg if is_group else os.kill)(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """End it at once with its Java, then its workers, which have a group of their own."""
        assert self._process.poll() is None, f"it ended by itself: {self._said()}"
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for member in self._members():
            with contextlib.suppress(ProcessLookupError):
                os.kill(member, signal.SIGKILL)

    def finish(self, code: int = 0) -> None:
        """Return when it ends by itself, with this exit code."""
        found = self._process.wait(RUN_SECONDS_MAX)
        assert found == code, f"exit code {found}, not {code}: {self._said()}"

    def _members(self) -> Iterator[int]:
        """Yield the processes of its session, where the system lists them."""
        for folder in Path("/proc").glob("[0-9]*"):
            # A process may end while it is looked at.
            with contextlib.suppress(OSError):
                if os.getsid(int(folder.name)) == self._process.pid:
                    yield int(folder.name)

    def _said(self) -> str:
        return self._log.read_text("utf-8", "replace")[-4000:]


def _command(process: int) -> str:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{process}/comm").read_text("utf-8")
    return ""
