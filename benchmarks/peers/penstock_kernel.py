"""Penstock's kernel alone: matches and fragments, before rows are built."""

from collections.abc import Callable
from typing import Any

from benchmarks.workloads.queries import Query

NAME = "Penstock kernel"
TIMED = "the kernel fed in pieces of 64 KiB"


def missing() -> str | None:
    return "not wired"


def prepare(query: Query) -> Callable[[bytes], Any]:
    raise NotImplementedError
