"""Ctrl-C in the middle of a document ends a command with its exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

SECONDS_MAX = 600.0
"""Nobody waits so long unless something hangs."""


def write_without_end(pipe: BinaryIO) -> None:
    """Write a document that does not end, for as long as somebody reads it."""
    with suppress(BrokenPipeError):
        pipe.write(b"<r><first/>")
        while True:
            pipe.write(b"<a>x</a>" * 10_000)


def test_match_is_interrupted_inside_a_document() -> None:
    queries = ["-q", "first=//first", "-q", "last=//a[preceding::b/following::a = .]"]
    command = [sys.executable, "-m", "penstock", "match", *queries, "--quiet"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        writer = threading.Thread(target=write_without_end, args=(running.stdin,))
        writer.start()
        try:
            # What is decided is printed at once, so the document has begun.
            assert running.stdout.readline() == b"first\t<first/>\n"
            os.kill(running.pid, signal.SIGINT)
            running.wait(SECONDS_MAX)
        finally:
            running.kill()
            writer.join()
        assert running.returncode == 130
        assert running.stderr.read() == b""
        with suppress(BrokenPipeError):
            running.stdin.close()
