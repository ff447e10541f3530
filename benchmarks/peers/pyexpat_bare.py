"""pyexpat without handlers: expat checks the document and reports nothing."""

from collections.abc import Callable

from benchmarks.workloads.queries import Query

NAME = "pyexpat, no handlers"
TIMED = "ParserCreate().Parse(bytes, True)"
PARSES_ONLY = True


def missing() -> str | None:
    return None


def prepare(_query: Query | None) -> Callable[[bytes], object]:
    from xml.parsers import expat

    return lambda data: expat.ParserCreate().Parse(data, True)
