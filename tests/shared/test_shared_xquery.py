"""The XQuery cases beside the checkout: none is answered wrongly, few are rejected."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from penstock.errors import PenstockError, QueryError
from penstock.languages.xquery import xquery
from penstock.results import Document
from penstock.testing.sequences import DynamicError, evaluate_sequences
from penstock.testing.sequences.items import NUMERIC, Atom, Item, primitive
from penstock.testing.sequences.serialising import serialise, serialise_node
from penstock.testing.sequences.casting import text_of
from penstock.testing.tree import parse
from penstock.twigs import NodeKind

Case = dict[str, Any]
Bound = dict[str, bytes]
Ask = Callable[[Case, Bound], "Answer"]
FILES = ("flwr.jsonl", "joins.jsonl", "qt3.jsonl")
REJECTED_MAX = 0.06

read = lru_cache(32)(parse)


@dataclass(frozen=True, slots=True)
class Answer:
    """The items as cases state them, and all of them as XML; None where that cannot be."""

    items: list[Any]
    xml: str | None


@dataclass(slots=True)
class Outcome:
    """What an engine made of the cases."""

    right: int = 0
    wrong: list[tuple[str, str, object, object]] = field(default_factory=list)
    rejected: list[tuple[str, str]] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.right + len(self.wrong) + len(self.rejected)


@pytest.fixture(scope="module")
def runner(shared: Path) -> ModuleType:
    """Return the module that compares answers with what a case expects."""
    spec = importlib.util.spec_from_file_location("run_cases", shared / "cases" / "run_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cases(folder: Path) -> Iterator[tuple[Case, Bound]]:
    for file in FILES:
        for line in (folder / file).read_text("utf-8").splitlines():
            case = json.loads(line)
            if case["level"] == "xquery1":
                bound = {
                    name: (folder / "docs" / path).read_bytes()
                    for name, path in case["bindings"].items()
                }
                yield case, bound


def variables_of(case: Case, bound: Bound) -> dict[str, Any]:
    documents = {
        name[1:]: Document(source, id=name) for name, source in bound.items() if name != "."
    }
    return {**documents, **case.get("variables", {})}


def ask_reference(case: Case, bound: Bound) -> Answer:
    variables = variables_of(case, bound)
    query = xquery(case["expression"], namespaces=case["namespaces"], variables=variables)
    trees = {name: read(source) for name, source in bound.items() if name != "."}
    found = evaluate_sequences(query, read(bound["."]) if "." in bound else None, documents=trees)
    try:
        xml: str | None = serialise(found)
    except DynamicError:
        xml = None
    return Answer([item_of(item) for item in found], xml)


def item_of(item: Item) -> object:
    """Return an item in the form in which cases state what they expect."""
    if isinstance(item, Atom):
        if item.type == "boolean":
            return item.value
        return float(item.value) if primitive(item.type) in NUMERIC else text_of(item)
    match item.kind:
        case NodeKind.ELEMENT | NodeKind.DOCUMENT:
            return (item.kind.value, serialise_node(item))
        case NodeKind.ATTRIBUTE:
            return ("attribute", item.expanded_name, item.value)
        case NodeKind.INSTRUCTION:
            return ("pi", item.local, item.value)
    return (item.kind.value, item.value)


def run(
    ask: Ask,
    folder: Path,
    runner: ModuleType,
    takes: Callable[[Bound], bool] = lambda bound: True,
) -> Outcome:
    """Return what an engine makes of the cases whose documents are to be asked about."""
    outcome = Outcome()
    for case, bound in cases(folder):
        if not takes(bound):
            continue
        is_error = case["expected"]["kind"] == "error"
        try:
            answer: object = ask(case, bound)
            assert isinstance(answer, Answer)
            is_right = not is_error and check(runner, case, answer)
        except QueryError as error:
            if error.xquery_code is None or (not is_error and error.code in REJECTIONS):
                outcome.rejected.append((case["id"], error.code))
                continue
            answer, is_right = error, is_error
        except (DynamicError, PenstockError) as error:
            answer, is_right = error, is_error
        outcome.right += is_right
        if not is_right:
            outcome.wrong.append((case["id"], case["expression"], case["expected"], answer))
    return outcome


REJECTIONS: set[str] = set()


def check(runner: ModuleType, case: Case, answer: Answer) -> bool:
    """Return whether an answer is what a case expects."""
    kind = case["expected"]["kind"]
    if kind == "xml":
        return answer.xml is not None and bool(runner.check(case, runner.Xml(answer.xml)))
    if kind in ("boolean", "number", "string"):
        return len(answer.items) == 1 and bool(runner.check(case, answer.items[0]))
    return bool(runner.check(case, answer.items))


ASK: dict[str, Ask] = {"reference": ask_reference}
