"""A second Ctrl-C interrupts a pipeline, whatever else is raised while it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

pytest.importorskip("pyspark")

from penstock.spark.pipelines.stopping import Stopping


@contextmanager
def interrupted(count: int) -> Iterator[None]:
    """Run a block in which SIGINT came so often, each time caught by the pipeline."""
    with Stopping():
        for _ in range(count):
            with suppress(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        yield


def test_an_error_after_the_first_interrupt_is_that_error() -> None:
    with pytest.raises(ConnectionError, match="Java is gone"), interrupted(1):
        raise ConnectionError("Java is gone")


@pytest.mark.parametrize("count", [2, 3])
def test_an_error_after_the_second_interrupt_is_an_interrupt(count: int) -> None:
    with pytest.raises(KeyboardInterrupt), interrupted(count):
        raise ConnectionError("Java is gone")


def test_a_second_interrupt_that_was_caught_on_the_way_is_raised_at_the_end() -> None:
    with pytest.raises(KeyboardInterrupt), interrupted(2):
        pass


def test_what_signals_did_before_they_do_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with suppress(KeyboardInterrupt), interrupted(2):
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before
