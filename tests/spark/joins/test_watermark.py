"""The tasks of a stream, document by document: the rows and the times of one process."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from penstock.kernel import ALONE
from penstock.limits import Limits
from penstock.results import Document, Heartbeat, Result
from penstock.results.rows import Fault
from penstock_testing.adversary.xscl import answers, attacking
from penstock_testing.adversary.xscl.cases import Case
from penstock_testing.adversary.xscl.expectation import expect
from tests.corpus.test_streams import CASES, END, Told, arrivals_of, registry_of, told
from tests.spark.joins.helpers.local import LocalJoins

HEARTBEATS = "heartbeats"
LATENESS = 1e9
"""What stands for no lateness: absence is not reported then."""


def as_document(name: str, item: Document | Heartbeat) -> Document:
    """Return an arrival as a row of a DataFrame; a heartbeat is a document that nobody reads."""
    if isinstance(item, Heartbeat):
        return Document(b"<heartbeat/>", name, HEARTBEATS, item.time)
    return item


def join_one_by_one(case: dict[str, Any], folder: Path) -> Told:
    limits = Limits(**{key: case[key] for key in case if key.endswith("_max")})
    lateness = case.get("lateness", LATENESS)
    joins = LocalJoins(folder, registry_of(case), lateness=lateness, limits=limits)
    for number, (name, item) in enumerate(arrivals_of(case)):
        for row in joins.batch(number, [as_document(name, item)]):
            yield name, row


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_a_stream_in_batches_of_one_is_a_stream_in_one_process(
    case: dict[str, Any], tmp_path: Path
) -> None:
    # Spark has no such times, but it has others that are none here.
    lines = [line.split(" ", 3) for line in case["arrivals"]]
    known = [" ".join(line) for line in lines if math.isfinite(float(line[2]))]
    results, errors = told(case, join_one_by_one(case | {"arrivals": known}, tmp_path))
    assert results == sorted(one for one in case["results"] if not one.startswith(END))
    # A document that stands for a heartbeat may be late like any other.
    odd = {line[0] for line in lines if len(line) == 3 or not math.isfinite(float(line[2]))}
    expected = [one for one in case["errors"] if one.split(" ")[0] not in odd]
    assert [one for one in errors if one.split(" ")[0] not in odd] == sorted(expected)


def rows_of(case: Case, folder: Path) -> Iterator[tuple[int, Result]]:
    """Yield the rows that the tasks of a stream give for a case of the attack."""
    limits = Limits() if case.depth_max is None else Limits(depth_max=case.depth_max)
    registry = answers.registry_of(case.queries)
    joins = LocalJoins(folder, registry, lateness=case.lateness, limits=limits)
    for step, one in enumerate(case.arrivals):
        document = Document(b"<heartbeat/>", "", HEARTBEATS, one.time)
        if one.xml is not None:
            document = Document(one.xml.encode(), one.id, one.stream, one.time)
        for row in joins.batch(step, [document]):
            fault = row["error"] and Fault(**row["error"])
            parts = row["documents"] and tuple(row["documents"])
            bindings = row["bindings"] and dict(row["bindings"])
            typed = {"error": fault, "documents": parts, "bindings": bindings}
            if row["stream"] != HEARTBEATS:
                yield step, Result(**row | typed, surroundings=ALONE)


def is_comparable(case: Case) -> bool:
    """Whether a stream gives the same rows: it does not end, and its times are Spark's."""
    arrivals = [(one.id, one.stream, one.time, one.xml) for one in case.arrivals]
    return (
        case.lateness is not None
        and all(math.isfinite(one.time) and one.time < 1e12 for one in case.arrivals)
        and len(set(arrivals)) == len(arrivals)
        and not answers.open_steps(case.queries)
    )


def test_random_streams_equal_brute_force() -> None:
    compared = found = 0
    for seed in range(0, 4_000, 7):
        case = attacking.case_of(seed)
        if not is_comparable(case):
            continue
        # What only the end of the source makes certain is not reported.
        end = len(case.arrivals)
        expected = Counter({row: n for row, n in expect(case).items() if row[-1] != end})
        with TemporaryDirectory() as folder:
            actual = Counter(
                answers.actual_row(row, step) for step, row in rows_of(case, Path(folder))
            )
        assert actual == expected, f"seed {seed}\n{case.describe()}"
        compared += 1
        found += any(row[0] == "row" for row in expected)
        if compared == 100:
            break
    assert compared == 100
    assert found > 40
