"""Asks random tables of the engine, several at once, in one piece and in many."""

from __future__ import annotations

import io
import json
import warnings
from random import Random
from typing import Any, NamedTuple

import penstock
from penstock.errors import PenstockError, PenstockWarning
from penstock_testing.adversary.report import Failure, Tally, kind_of
from penstock_testing.adversary.tables.generate import (
    random_columns,
    random_record,
    random_values,
)
from penstock_testing.adversary.tables.oracle import Rows, canonical, expected_rows
from penstock_testing.generate import NAMESPACES, DocumentKnobs, random_document

_DOCUMENTS = DocumentKnobs(nodes_max=24)


class Case(NamedTuple):
    """Tables over one document."""

    tables: list[tuple[str, dict[str, Any]]]
    document: bytes


class _Pieces(io.RawIOBase):
    """A stream that gives few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data = data
        self._size = size

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        piece, self._data = self._data[: self._size], self._data[self._size :]
        return piece


def random_case(seed: int) -> Case:
    """Return the tables and the document of a seed."""
    random = Random(seed)
    document = random_values(random, random_document(random, _DOCUMENTS))
    tables = [(random_record(random), random_columns(random)) for _ in range(3)]
    if b"<!DOCTYPE" in document:
        # To libxml2 the entities of a document are part of its string value, and come before it.
        written = json.dumps(tables).replace("..", "parent::*")
        tables = json.loads(written.replace("preceding::", "preceding-sibling::"))
    return Case(tables, document)


def attack(seed: int, count: int) -> Tally:
    """Ask the tables of ``count`` seeds."""
    tally = Tally()
    for number in range(seed, seed + count):
        check(number, random_case(number), tally)
    return tally


def check(seed: int, case: Case, tally: Tally) -> None:
    """Compare the rows of all tables of a case with those that are expected."""
    expected = [expected_rows(*table, case.document) for table in case.tables]
    tally.cases += len(case.tables)
    tally.non_empty += sum(map(bool, expected))
    size = Random(seed).choice((1, 2, 7, 64))
    try:
        registry = _registry(case.tables)
        engine = penstock.Engine(registry)
        for place, (table, rows) in enumerate(zip(case.tables, expected, strict=True)):
            alone = penstock.Engine(_registry([table]))
            answers = {
                "together": found_rows(engine, case.document, f"t{place}", table[1]),
                "in pieces": found_rows(
                    engine, _Pieces(case.document, size), f"t{place}", table[1]
                ),
                "alone": found_rows(alone, case.document, "t0", table[1]),
            }
            for how, found in answers.items():
                if found != _shown(rows):
                    shown = f"{table}\n  {case.document.decode()}\n  {how}"
                    fault = f"{shown}\n  expected {_shown(rows)}\n  found    {found}"
                    tally.failures.append(Failure("wrong", seed, fault))
                    break
    except (PenstockError, ArithmeticError, ValueError, TypeError, RuntimeError) as error:
        fault = f"{case.tables}\n  {case.document.decode()}\n  {error!r}"
        tally.failures.append(Failure(kind_of(error), seed, fault))


def _registry(tables: list[tuple[str, dict[str, Any]]]) -> penstock.Registry:
    registry = penstock.Registry()
    for place, (record, columns) in enumerate(tables):
        registry.add(f"t{place}", penstock.table(record, columns, namespaces=NAMESPACES))
    return registry


def found_rows(
    engine: penstock.Engine, source: Any, name: str, columns: dict[str, Any]
) -> list[str]:
    """Return the rows of the engine in the form of those that are expected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PenstockWarning)
        rows: Rows = engine.table(source, name).to_pylist()
    for row in rows:
        errors = row.get("errors") or []
        row["errors"] = [(error["column"], error["value"]) for error in errors]
        _canonise(row, columns)
    return _shown(rows)


def _canonise(row: dict[str, Any], columns: dict[str, Any]) -> None:
    for name, written in columns.items():
        value = row[name]
        match written:
            case dict() if value is not None:
                _canonise(value, written)
            case (_, "xml") if value is not None:
                row[name] = canonical(value)
            case (_, "list[xml]"):
                row[name] = [canonical(one) for one in value]
            case (_, dict() as inner) if value is not None:
                _canonise(value, inner)
            case (_, [inner]):
                for one in value:
                    _canonise(one, inner)


def _shown(rows: Rows) -> list[str]:
    """Return rows as texts: two that are not a number are equal so, and zones of equal times."""
    return [
        json.dumps(row, default=lambda value: f"{type(value).__name__} {value}") for row in rows
    ]
