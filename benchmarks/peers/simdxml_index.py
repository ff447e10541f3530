"""simdxml: a structural index built with vector instructions, and XPath over it.

It evaluates location paths only, so a count is taken from the path inside it.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "simdxml"
TIMED = "parse(bytes) and compile(...).eval, a lazy list; .eval_count for a count"


def missing() -> str | None:
    return absent("simdxml")


def prepare(query: Query) -> Callable[[bytes], Any]:
    import simdxml

    if query.compare == "number":
        counted = simdxml.compile(query.text.removeprefix("count(").removesuffix(")"))
        return lambda data: counted.eval_count(simdxml.parse(data))
    compiled = simdxml.compile(query.text)
    return lambda data: compiled.eval(simdxml.parse(data))


def prepare_file(query: Query) -> Callable[[Path], Any]:
    run = prepare(query)
    return lambda path: run(path.read_bytes())


def values(answer: Any) -> list[str]:
    if isinstance(answer, int):
        return [str(answer)]
    return [element.text_content() for element in answer]
