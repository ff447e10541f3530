"""The XQuery cases beside the checkout: none is answered wrongly, few are rejected."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from penstock.errors import QueryError
from penstock_testing.sequences import DynamicError
from penstock_testing.sequences.describing import WHOLE, Described
from penstock_testing.tree import parse
from tests.xquery_engines import ENGINES, Answer, Ask, ask_reference

Case = dict[str, Any]
Bound = dict[str, bytes]
FILES = ("flwr.jsonl", "joins.jsonl", "qt3.jsonl")
CASES = 790
REJECTED_MAX = 0.06
LARGE_BYTES = 250_000
"""The reference evaluator compares every pair, and takes minutes for documents beyond."""

_NUMBERS = ("integer", "decimal", "double")


@dataclass(slots=True)
class Outcome:
    """What an engine made of the cases."""

    right: int = 0
    wrong: list[tuple[str, str, object, object]] = field(default_factory=list)
    rejected: list[tuple[str, QueryError]] = field(default_factory=list)

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


def is_small(bound: Bound) -> bool:
    return sum(map(len, bound.values())) < LARGE_BYTES


def is_large(bound: Bound) -> bool:
    return not is_small(bound)


def run(
    ask: Ask,
    folder: Path,
    runner: ModuleType,
    takes: Callable[[Bound], bool] = lambda _: True,
) -> Outcome:
    """Return what an engine makes of the cases with such documents."""
    outcome = Outcome()
    for case, bound in cases(folder):
        if not takes(bound):
            continue
        is_error = case["expected"]["kind"] == "error"
        variables = {name[1:]: source for name, source in bound.items() if name != "."}
        options = {"namespaces": case["namespaces"], "variables": case.get("variables", {})}
        try:
            answer: object = ask(case["expression"], bound.get("."), variables, **options)
            assert isinstance(answer, Answer)
            is_right = not is_error and check(runner, case, answer)
        except QueryError as error:
            if not is_error:
                outcome.rejected.append((case["id"], error))
                continue
            answer, is_right = error, True
        except DynamicError as error:
            answer, is_right = error, is_error
        outcome.right += is_right
        if not is_right:
            outcome.wrong.append((case["id"], case["expression"], case["expected"], answer))
    return outcome


def check(runner: ModuleType, case: Case, answer: Answer) -> bool:
    """Return whether an answer is what a case expects."""
    kind = case["expected"]["kind"]
    if kind == "xml":
        return answer.xml is not None and bool(runner.check(case, runner.Xml(answer.xml)))
    items = [stated(item) for item in answer.items]
    if kind in ("boolean", "number", "string"):
        return len(items) == 1 and bool(runner.check(case, items[0]))
    if any(item[0] in WHOLE for item in answer.items) and answer.xml is not None:
        return bool(runner.check(case, runner.Xml(answer.xml)))
    return bool(runner.check(case, items))


def stated(item: Described) -> object:
    """Return an item in the form in which cases state what they expect."""
    kind, name, value = item
    if kind:
        return {
            "attribute": ("attribute", name, value),
            "processing-instruction": ("pi", name, value),
        }.get(kind, (kind, value))
    if name == "boolean":
        return value == "true"
    if name in _NUMBERS:
        return float({"INF": "inf", "-INF": "-inf"}.get(value, value))
    return value


def check_outcome(outcome: Outcome) -> None:
    assert outcome.wrong == []
    for name, error in outcome.rejected:
        assert error.span is not None, name
        assert error.help, name
    assert len(outcome.rejected) <= REJECTED_MAX * CASES, outcome.rejected


def test_there_are_as_many_cases_as_the_folder_promises(shared: Path) -> None:
    assert sum(1 for _ in cases(shared / "cases")) == CASES


def test_the_reference_answers_every_case_with_small_documents(
    shared: Path, runner: ModuleType
) -> None:
    ask = partial(ask_reference, read=lru_cache(32)(parse))
    outcome = run(ask, shared / "cases", runner, is_small)
    check_outcome(outcome)
    assert outcome.total > 0.95 * CASES


@pytest.mark.slow
def test_the_reference_answers_every_case_with_large_documents(
    shared: Path, runner: ModuleType
) -> None:
    ask = partial(ask_reference, read=lru_cache(32)(parse))
    outcome = run(ask, shared / "cases", runner, is_large)
    check_outcome(outcome)
    assert outcome.total > 10


@pytest.mark.skipif("kernel" not in ENGINES, reason="the engine does not evaluate XQuery")
def test_the_engine_answers_every_case(shared: Path, runner: ModuleType) -> None:
    outcome = run(ENGINES["kernel"], shared / "cases", runner)
    check_outcome(outcome)
    assert outcome.total == CASES
