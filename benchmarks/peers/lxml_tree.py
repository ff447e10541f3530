"""lxml: libxml2's tree and XPath 1.0 engine; the reference for answers."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.peers import absent
from benchmarks.workloads.queries import Query

NAME = "lxml"
TIMED = "fromstring(bytes) and XPath(...)(root), a list of elements"


def missing() -> str | None:
    return absent("lxml.etree")


def prepare(query: Query) -> Callable[[bytes], Any]:
    from lxml import etree

    select = etree.XPath(query.text)
    parser = etree.XMLParser(huge_tree=True)
    return lambda data: select(etree.fromstring(data, parser))


def prepare_file(query: Query) -> Callable[[Path], Any]:
    from lxml import etree

    select = etree.XPath(query.text)
    parser = etree.XMLParser(huge_tree=True)
    return lambda path: select(etree.parse(str(path), parser))


def values(answer: Any) -> list[str]:
    if isinstance(answer, float):
        return [f"{answer:.15g}"]
    return ["".join(node.itertext()) for node in answer]
