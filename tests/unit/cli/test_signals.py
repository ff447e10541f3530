"""Ctrl-C ends a command with its exit code at any time: while it loads, runs and shuts down.

The process sends the signal to itself, at a place that is given.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from penstock.cli import exits
from penstock_xml import COULD_NOT_RUN, INTERRUPTED

COMMAND = [sys.executable, "-c"]
PREPARE = """
import atexit, os, signal, sys, threading

def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)

sys.argv[1:] = ["explain", "//book"]
"""
RUN = """
from penstock_xml import command
sys.exit(command())
"""
LOADING = """
class Finder:
    def find_spec(self, name, path, target=None):
        if name == "penstock.cli.parsing":
            interrupt()

sys.meta_path.insert(0, Finder())
"""
PARSING = """
from penstock.cli import main
main.__globals__["parser"] = interrupt
"""
COMPLAINING = """
from penstock.cli import main
main.__globals__["advised"] = interrupt
sys.argv[1:] = ["explain", "//book["]
"""
ENDING = """
import penstock.cli
main = penstock.cli.main

def ending():
    main()
    interrupt()

penstock.cli.main = ending
"""
PRINTING = """
import penstock.cli

def printing():
    print("first", end="")
    interrupt()

penstock.cli.main = printing
"""
WAITING = """
def wait():
    threading.main_thread().join()  # which waits for this thread then
    # A signal that comes just before a lock is waited for does not end the wait.
    while not threading.Event().wait(0.01):
        interrupt()

threading.Thread(target=wait).start()
"""
HANDLING = """
import penstock.cli
main = penstock.cli.main

def ending():
    atexit.register(interrupt)
    return main()

penstock.cli.main = ending
"""
CLEARING = """
class Last:
    __del__ = interrupt

_last = Last()
"""


def run(prepare: str) -> tuple[int, str]:
    """Run a command that is interrupted; return its exit code and what it complained about."""
    ended = subprocess.run(
        [*COMMAND, PREPARE + prepare + RUN], capture_output=True, text=True, check=False
    )
    return ended.returncode, ended.stderr


@pytest.mark.parametrize(
    "place",
    [
        pytest.param(LOADING, id="while the commands are loaded"),
        pytest.param(PARSING, id="before the arguments are read"),
        pytest.param(COMPLAINING, id="while an error is printed"),
        pytest.param(ENDING, id="after the command has ended"),
        pytest.param(WAITING, id="while a thread is waited for"),
        pytest.param(HANDLING, id="in what is called at exit"),
    ],
)
def test_a_signal_ends_the_command_with_its_exit_code(place: str) -> None:
    assert run(place) == (exits.INTERRUPTED, "")


def test_what_was_printed_before_a_signal_is_kept() -> None:
    ended = subprocess.run([*COMMAND, PREPARE + PRINTING + RUN], capture_output=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (exits.INTERRUPTED, b"first", b"")


def test_a_reader_that_was_interrupted_as_well_does_not_change_the_exit_code() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        ended = subprocess.run(
            [*COMMAND, PREPARE + PRINTING + RUN],
            stdout=writer,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
            check=False,
        )
    finally:
        os.close(writer)
    assert (ended.returncode, ended.stderr) == (exits.INTERRUPTED, b"")


def test_a_signal_while_python_shuts_down_leaves_the_exit_code() -> None:
    assert run(CLEARING) == (exits.DONE, "")


def test_a_command_that_was_started_without_ctrl_c_goes_on() -> None:
    assert run("signal.signal(signal.SIGINT, signal.SIG_IGN)" + ENDING) == (exits.DONE, "")


def test_the_exit_codes_are_those_of_the_commands() -> None:
    assert (INTERRUPTED, COULD_NOT_RUN) == (exits.INTERRUPTED, exits.COULD_NOT_RUN)
