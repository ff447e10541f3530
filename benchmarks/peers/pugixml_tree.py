"""pugixml: a compact C++ tree with XPath 1.0, parsed with its default options.

The defaults drop text that is only white space; keeping it would cost pugixml some time.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "pugixml"
TIMED = "load_buffer(bytes) and XPathQuery.evaluate_node_set, a node set"


def missing() -> str | None:
    return absent("pugixml.pugi")


def _evaluate(query: Query) -> Callable[[Any], Any]:
    from pugixml import pugi

    compiled = pugi.XPathQuery(query.text)
    scalar = query.compare == "number"
    return compiled.evaluate_number if scalar else compiled.evaluate_node_set


def prepare(query: Query) -> Callable[[bytes], Any]:
    from pugixml import pugi

    evaluate = _evaluate(query)

    def run(data: bytes) -> Any:
        document = pugi.XMLDocument()
        assert document.load_buffer(data, len(data))
        return document, evaluate(document)  # The nodes live as long as their document.

    return run


def prepare_file(query: Query) -> Callable[[Path], Any]:
    from pugixml import pugi

    evaluate = _evaluate(query)

    def run(path: Path) -> Any:
        document = pugi.XMLDocument()
        assert document.load_file(str(path))
        return document, evaluate(document)

    return run


def values(answer: Any) -> list[str]:
    from pugixml import pugi

    _document, result = answer
    if isinstance(result, float):
        return [f"{result:.15g}"]
    text = pugi.XPathQuery("string()")
    return [text.evaluate_string(node) for node in result]
