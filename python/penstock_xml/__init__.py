"""The command ``penstock``, also ``python -m penstock``, and what Ctrl-C does to it at any time.

This module has the name of the distribution, so no other replaces it: it says when the package
``penstock`` was replaced.

Python lets a KeyboardInterrupt that nobody catches end the process by the signal itself, and takes
its handler away while it shuts down. So what a signal does is decided here, before anything else
is loaded: it ends the process at once while there is nothing to clean up, it is a
KeyboardInterrupt while a command runs, and it is ignored when all but the process is gone.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import warnings
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 128 + signal.SIGINT
COULD_NOT_RUN = 4
"""``penstock.cli.exits`` has both; here they are without loading the commands."""

_REPLACED = (
    "the package `penstock` is not that of penstock-xml: another distribution of that name "
    "replaced it or removed its files; `pip uninstall penstock penstock-xml`, then install "
    "penstock-xml again"
)


def command() -> int:
    """Run the command that the arguments ask for and return its exit code."""
    # What a shell starts in the background ignores Ctrl-C, and goes on doing so.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return _main()()
    signal.signal(signal.SIGINT, _leave)
    ending = _Ending()
    # What is registered first is called last.
    atexit.register(ending)
    main = _main()
    try:
        code = _interruptible(main)
    except KeyboardInterrupt:
        # It came after the command had caught what it catches.
        signal.signal(signal.SIGINT, _leave)
        code = INTERRUPTED
    ending.is_interrupted = code == INTERRUPTED
    return code


def _main() -> Callable[[], int]:
    """Return what runs the commands, if the package ``penstock`` is ours."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            import penstock

            is_ours = getattr(penstock, "__distribution__", None) == __name__.replace("_", "-")
        except Exception:  # what another project's package may raise
            is_ours = False
    if not is_ours:
        print(f"penstock: {_REPLACED}", file=sys.stderr)
        return lambda: COULD_NOT_RUN
    for one in said:
        print(f"penstock: warning: {one.message}", file=sys.stderr)
    if sys.argv[1:] in (["--version"], ["-V"]):
        # Commands and their parser take many times as long to load.
        print(f"penstock {penstock.__version__}")
        return lambda: 0
    from penstock.cli import main

    return main


def _interruptible(main: Callable[[], int]) -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return main()
    finally:
        signal.signal(signal.SIGINT, _leave)


def _leave(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)


class _Ending:
    """What is done after all else, before Python takes down its modules and objects."""

    def __init__(self) -> None:
        self.is_interrupted = False

    def __call__(self) -> None:
        if self.is_interrupted:
            # Taking down takes ten times as long as to stop an evaluation, and nobody needs it.
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):  # its reader may have been interrupted as well
                    stream.flush()
            os._exit(INTERRUPTED)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
