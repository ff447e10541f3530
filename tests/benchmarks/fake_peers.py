"""Peers as they may be: one that answers, and every way not to."""

import os
import signal
import subprocess
import sys
from typing import Any


def answer(number: int) -> dict[str, Any]:
    """Answer."""
    print("this is no part of the reply")
    return {"count": number}


def wait_for_ever() -> None:
    """Never answer."""
    signal.pause()


def start_something_and_wait() -> None:
    """Start a process that keeps the pipes open, and never answer."""
    subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    signal.pause()


def leave_something_behind() -> dict[str, Any]:
    """Answer, and leave a process that keeps the pipes open."""
    subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    return {"count": 1}


def die() -> None:
    """End at once."""
    os._exit(7)


def crash() -> None:
    """End as a fault in native code does."""
    os.kill(os.getpid(), signal.SIGKILL)


def miss() -> None:
    """Need something that is not there."""
    import a_package_that_is_not_there  # type: ignore[import-not-found]  # noqa: F401
