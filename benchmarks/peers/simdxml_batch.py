"""simdxml's fastest way: one call from bytes to texts, indexing only the names a query uses.

It returns the text directly inside each node, which is the string value where a node has no
child elements, and leaves out nodes without such text, so it cannot count: a count goes
through the whole index.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "simdxml, batch"
TIMED = "batch_xpath_text([bytes], ...), a list of texts; parse and .eval_count for a count"


def missing() -> str | None:
    return absent("simdxml")


def prepare(query: Query) -> Callable[[bytes], Any]:
    import simdxml

    if query.compare == "number":
        counted = simdxml.compile(query.text.removeprefix("count(").removesuffix(")"))
        return lambda data: counted.eval_count(simdxml.parse(data))
    compiled = simdxml.compile(query.text)
    return lambda data: simdxml.batch_xpath_text([data], compiled)[0]


def prepare_file(query: Query) -> Callable[[Path], Any]:
    run = prepare(query)
    return lambda path: run(path.read_bytes())


def values(answer: Any) -> list[str]:
    return [str(answer)] if isinstance(answer, int) else list(answer)
