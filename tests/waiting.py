"""Waiting for what must happen, however busy the machine is.

No other test may sleep: a sleep that must suffice fails when others use the machine.
"""

import time
from collections.abc import Callable

SECONDS_MAX = 600.0
"""What has not happened by then never does."""
_PAUSE_SECONDS = 0.01


def wait_until(claim: Callable[[], bool], what: str, seconds_max: float = SECONDS_MAX) -> None:
    """Return when something holds.

    Raises:
        TimeoutError: It never does.
    """
    deadline = time.monotonic() + seconds_max
    while not claim():
        if time.monotonic() > deadline:
            raise TimeoutError(f"it never happens that {what}")
        time.sleep(_PAUSE_SECONDS)
