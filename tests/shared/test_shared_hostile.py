"""The hostile documents beside the checkout: the verdict on which expat and libxml2 agree."""

from __future__ import annotations

import importlib.util
import json
import resource
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from penstock.errors import DocumentError, LimitError

SECONDS_MAX = 10.0
MEMORY_BYTES_MAX = 512 << 20


@pytest.fixture(scope="module")
def hostile(shared: Path) -> ModuleType:
    """Return the module that knows how to make the bytes of a case."""
    path = shared / "hostile" / "run_hostile.py"
    spec = importlib.util.spec_from_file_location("run_hostile", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bytes_of(case: dict[str, Any], folder: Path, hostile: ModuleType) -> bytes:
    """Return the bytes of a case: a file, the beginning of one, or generated."""
    if "gen" in case:
        made: bytes = hostile.data(case)
        return made
    data = (folder / (case.get("file") or case["base"])).read_bytes()
    return data if "file" in case else data[: case["cut"]]


def judge(document: bytes) -> str:
    """Return what the engine says of a document of which every byte is checked."""
    import penstock

    try:
        penstock.evaluate("count(//*)", document)
    except LimitError:
        return "limit"
    except DocumentError:
        return "reject"
    return "accept"


def is_fair(verdict: str, case: dict[str, str]) -> bool:
    """A stated limit is a fair answer to sheer size; where others differ, either verdict is."""
    if case["expected"] == "disagree" or verdict == case["expected"]:
        return True
    return verdict == "limit" and (case["expected"] == "reject" or case["category"] == "size")


def test_no_hostile_document_gets_a_wrong_verdict(shared: Path, hostile: ModuleType) -> None:
    wrong, slow = [], []
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for line in (shared / "hostile" / "hostile.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        document = bytes_of(case, shared / "hostile", hostile)
        started = time.process_time()
        verdict = judge(document)
        # Core time does not depend on what else the machine does.
        if time.process_time() - started > SECONDS_MAX:
            slow.append(case["id"])
        if not is_fair(verdict, case):
            wrong.append((case["id"], case["expected"], verdict))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert wrong == []
    assert slow == []
    assert grown * 1024 < MEMORY_BYTES_MAX
