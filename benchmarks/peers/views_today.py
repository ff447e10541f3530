"""What a router does today: parse the document with lxml or expat, then ask its queries.

Each function runs in a process of its own and returns core seconds for one server and document.
"""

import time
from collections.abc import Callable
from typing import Any


def lxml(path: str, servers: list[list[str]], rounds: int) -> dict[str, Any]:
    """Parse and evaluate the compiled XPaths of each server; its answers come along."""
    from lxml import etree

    document = open(path, "rb").read()  # noqa: SIM115  # the process ends soon
    compiled = [[etree.XPath(text) for text in texts] for texts in servers]
    answers: list[list[bool]] = []

    def work(queries: list[Any]) -> list[bool]:
        tree = etree.fromstring(document)
        return [bool(query(tree)) for query in queries]

    for queries in compiled:
        answers.append(work(queries))
    return {"seconds": _core_seconds(work, compiled, rounds), "answers": answers}


def expat(path: str, servers: list[list[str]], rounds: int) -> dict[str, Any]:
    """Parse alone, nobody listening: less than any router with expat can do."""
    from xml.parsers import expat as parser

    document = open(path, "rb").read()  # noqa: SIM115  # the process ends soon

    def work(_: list[str]) -> None:
        parser.ParserCreate().Parse(document, True)

    return {"seconds": _core_seconds(work, servers, rounds)}


def _core_seconds(work: Callable[[Any], object], servers: list[Any], rounds: int) -> float:
    """Return the least over rounds of the mean over servers."""
    means = []
    for _ in range(rounds):
        started = time.process_time()
        for server in servers:
            work(server)
        means.append((time.process_time() - started) / len(servers))
    return min(means)
