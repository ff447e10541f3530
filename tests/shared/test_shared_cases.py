"""The XPath 1.0 cases beside the checkout: the right answer to each of them."""

from __future__ import annotations

import importlib.util
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest

from penstock.errors import QueryError
from penstock.languages.xpath import xpath
from penstock.twigs import NodeKind
from penstock_testing.reference import evaluate
from penstock_testing.tree import Node, Tree, parse
from tests.engines import ENGINES

Case = dict[str, Any]
Wrong = tuple[str, str, object, str]
Ask = Callable[[Case, bytes], object]
FILES = ("xpath1.jsonl", "diff.jsonl", "qt3.jsonl")
LEVELS = ("xpath1", "xpath1-only")
# XPath 1.0 knows no exponents: its section 4.4 makes NaN of "-22e0", and its grammar no number of
# `1e5`. And it knows no evaluation without a context, so that `last()` is 1 where later versions
# find an error.
MISJUDGED = {"qt3/fn-number/fn-number-8", "qt3/fn-last/last-2"}
EXPONENT = re.compile(r"(?<![\w.'\"])[0-9.]+[eE][-+]?[0-9]")
WITHOUT_CONTEXT = b"<none/>"

read = lru_cache(8)(parse)


@pytest.fixture(scope="module")
def runner(shared: Path) -> ModuleType:
    """Return the module that compares answers with what a case expects."""
    spec = importlib.util.spec_from_file_location("run_cases", shared / "cases" / "run_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(folder: Path, file: str) -> Iterator[Case]:
    for line in (folder / file).read_text("utf-8").splitlines():
        case = json.loads(line)
        if case["language"] == "xpath" and case["level"] in LEVELS:
            yield case


def ask_reference(case: Case, document: bytes) -> object:
    query = xpath(case["expression"], namespaces=case["namespaces"], **options(case))
    tree = read(document)
    found = evaluate(query, tree)
    return [item(node, tree) for node in found] if isinstance(found, list) else found


def ask_kernel(case: Case, document: bytes) -> object:
    import penstock

    found = penstock.evaluate(
        case["expression"], document, namespaces=case["namespaces"], **options(case)
    )
    return [row_item(row) for row in found] if isinstance(found, list) else found


def options(case: Case) -> dict[str, Any]:
    """Return the settings of a case that are not the rule."""
    settings = {"context": case.get("context"), "variables": case.get("variables")}
    return {name: value for name, value in settings.items() if value}


def item(node: Node, tree: Tree) -> tuple[str, ...]:
    """Return a node in the form in which cases state what they expect."""
    match node.kind:
        case NodeKind.ELEMENT | NodeKind.DOCUMENT:
            return (node.kind.value, serialize(node))
        case NodeKind.ATTRIBUTE:
            return ("attribute", node.expanded_name, node.value)
        case NodeKind.INSTRUCTION:
            return ("pi", node.local, node.value)
    return (node.kind.value, node.value)


def row_item(row: Any) -> tuple[str, ...]:
    """Return a row of the engine in the same form."""
    match row.kind:
        case "element" | "document":
            return (row.kind, _without_prolog(row.xml))
        case "attribute":
            return ("attribute", row.name, row.value)
        case "processing-instruction":
            return ("pi", row.name, row.value)
    return (row.kind, row.value)


def _without_prolog(xml: str) -> str:
    tree = parse(xml)
    return "".join(serialize(child) for child in tree.root.children)


def serialize(node: Node) -> str:
    """Return self-contained XML: every element declares its own namespaces."""
    match node.kind:
        case NodeKind.DOCUMENT:
            return "".join(map(serialize, node.children))
        case NodeKind.TEXT:
            return escape(node.value)
        case NodeKind.COMMENT:
            return f"<!--{node.value}-->"
        case NodeKind.INSTRUCTION:
            return f"<?{node.local} {node.value}?>"
    declared = f" xmlns{':' + node.prefix if node.prefix else ''}={quoteattr(node.uri)}"
    for attribute in node.attributes:
        if attribute.prefix not in ("", "xml", node.prefix):
            declaration = f" xmlns:{attribute.prefix}={quoteattr(attribute.uri)}"
            if declaration not in declared:
                declared += declaration
    written = "".join(f" {a.name}={quoteattr(a.value)}" for a in node.attributes)
    inside = "".join(map(serialize, node.children))
    return f"<{node.name}{declared}{written}>{inside}</{node.name}>"


def run(ask: Ask, folder: Path, runner: ModuleType) -> tuple[list[Wrong], Counter[str]]:
    """Return the cases with a wrong answer, and how many are answers or errors of which code."""
    wrong = []
    counts: Counter[str] = Counter()
    for file in FILES:
        for case in cases(folder, file):
            name = case["bindings"].get(".")
            document = (folder / "docs" / name).read_bytes() if name else WITHOUT_CONTEXT
            try:
                is_right = runner.check(case, ask(case, document))
                verdict = "answered"
            except QueryError as error:
                if is_of_later_versions(case, error):
                    continue
                is_right = case["expected"]["kind"] == "error"
                verdict = error.code
            counts[verdict] += 1
            if not is_right and case["id"] not in MISJUDGED:
                wrong.append((case["id"], case["expression"], case["expected"], verdict))
    return wrong, counts


def is_of_later_versions(case: Case, error: QueryError) -> bool:
    """Say whether a case writes a number as only later versions may."""
    return error.code == "PQ0103" and EXPONENT.search(case["expression"]) is not None


ASK: dict[str, Ask] = {"reference": ask_reference, "kernel": ask_kernel}


@pytest.mark.parametrize("engine", list(ENGINES))
def test_every_shared_case_has_the_right_answer(
    engine: str, shared: Path, runner: ModuleType
) -> None:
    wrong, counts = run(ASK[engine], shared / "cases", runner)
    assert wrong == []
    assert counts["answered"] > 0.9 * counts.total(), counts
