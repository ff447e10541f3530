"""Penstock's tokenizer with no listener: every check, no query."""

from collections.abc import Callable

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "Penstock tokenizer"
TIMED = "kernel.tokenize(bytes), all well-formedness checks, in pieces of kernel.CHUNK_BYTES"
PARSES_ONLY = True


def missing() -> str | None:
    return absent("penstock.kernel")


def prepare(_query: Query | None) -> Callable[[bytes], object]:
    from penstock import kernel

    return lambda data: kernel.tokenize(data)
