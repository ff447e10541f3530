"""Asks many random queries of one document at once, and each of the reference by itself."""

from __future__ import annotations

import warnings
from random import Random
from typing import Any

import penstock
from penstock.errors import PenstockWarning
from penstock_testing.adversary.report import Failure, Tally, kind_of
from penstock_testing.generate.brokered import random_brokered, random_nested
from penstock_testing.sequences import DynamicError, rows_of
from penstock_testing.sequences.describing import canonical
from penstock_testing.tree import parse

COUNT = 20
"""Queries of a case; as many have a broker."""

Answer = str | None
"""A message in canonical form, ``error`` with its code, or None if nothing was sent."""
_NO_NUMBER = "error FORG0001"


def random_case(seed: int) -> tuple[list[str], bytes]:
    """Return queries and a document."""
    random = Random(seed)
    return [random_brokered(random) for _ in range(COUNT)], random_nested(random)


def attack(seed: int, count: int) -> Tally:
    """Ask ``count`` queries, ``COUNT`` of them with each document."""
    tally = Tally()
    for number in range(seed, seed + count, COUNT):
        texts, document = random_case(number)
        _check(number, texts[: seed + count - number], document, tally)
    return tally


def _check(seed: int, texts: list[str], document: bytes, tally: Tally) -> None:
    tally.cases += len(texts)
    try:
        found = ask(texts, document)
    except BaseException as error:
        tally.failures.append(Failure(kind_of(error), seed, f"{document.decode()}\n  {error}"))
        return
    for text, own in zip(texts, found, strict=True):
        expected = ask_reference(text, document)
        tally.non_empty += expected is not None
        if own == expected:
            continue
        if _NO_NUMBER in (own, expected):
            # Which part of a conjunction is decided first is free (section 2.3.4 of XQuery 1.0).
            tally.deviations["an error that another order of evaluation sees or does not see"] += 1
            continue
        case = f"{text}\n  {document.decode()}\n  expected {expected}\n  found {own}"
        tally.failures.append(Failure("wrong", seed, case))


def ask(texts: list[str], document: bytes) -> list[Answer]:
    """Return the answers of the broker, all queries at once."""
    package: Any = penstock
    registry = package.Registry()
    for number in range(COUNT):
        registry.add(str(number), package.xquery(texts[number % len(texts)]))
    answers: list[Answer] = [None] * COUNT
    with warnings.catch_warnings():
        # Of those that say nothing.
        warnings.simplefilter("ignore", PenstockWarning)
        rows = list(package.Engine(registry).run(document))
    for row in rows:
        code = row.error and row.error.reason.partition(":")[0]
        answers[int(row.subscription)] = f"error {code}" if code else canonical(row.value)
    return answers[: len(texts)]


def ask_reference(text: str, document: bytes) -> Answer:
    """Return the answer of the reference evaluator."""
    package: Any = penstock
    try:
        rows = rows_of(package.xquery(text), parse(document))
    except DynamicError as error:
        return f"error {error.code}"
    return canonical(rows[0].value) if rows else None
