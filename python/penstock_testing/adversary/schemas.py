"""Random DTDs, documents that fit them and documents that do not, and random queries.

Rows under a schema that is checked are those without it, for every document: the same nodes, order
and deciding bytes. Under a schema that is trusted, documents that fit it have the same results.
"""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from penstock.engine import Engine
from penstock.errors import PenstockError
from penstock.languages.xpath import xpath
from penstock.languages.xquery import xquery
from penstock.registry import MemoryRegistry
from penstock.results import Document, Result
from penstock.schemas import Schema, schema
from penstock_testing.adversary.report import Failure, Tally
from penstock_testing.generate import (
    NAMESPACES,
    DocumentKnobs,
    random_document,
    random_expression,
    random_xpath,
    random_xquery,
)
from penstock_testing.generate.schemas import RandomDtd, random_dtd, random_valid_document

QUERIES = 10
_WILD = DocumentKnobs(doctype=0.1)


@dataclass(frozen=True, slots=True)
class Case:
    """A DTD, subscriptions, and documents; ``fitting`` are the ids of those that fit the DTD."""

    dtd: RandomDtd
    registry: MemoryRegistry
    documents: list[Document]
    fitting: frozenset[str]

    def schema(self) -> Schema:
        """Return the DTD as a schema that is checked."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "random.dtd")
            path.write_text(str(self.dtd), "utf-8")
            return schema(path, root="r")


def random_case(seed: int) -> Case:
    """Return a case; some documents are cut off."""
    random = Random(seed)
    dtd = random_dtd(random)
    registry = MemoryRegistry()
    for number in range(QUERIES):
        _subscribe(registry, str(number), random)
    texts = {f"fitting {n}": random_valid_document(random, dtd) for n in range(4)}
    fitting = frozenset(texts)
    texts |= {f"wild {n}": random_document(random, _WILD) for n in range(3)}
    texts["cut off"] = random_valid_document(random, dtd)[:-5]
    documents = [Document(text, id=name) for name, text in texts.items()]
    random.shuffle(documents)
    return Case(dtd, registry, documents, fitting)


def _subscribe(registry: MemoryRegistry, name: str, random: Random) -> None:
    kind = random.random()
    try:
        if kind < 0.7:
            write = random_expression if kind < 0.45 else random_xpath
            mode: Any = "filter" if random.random() < 0.2 else "query"
            registry.add(name, xpath(write(random), namespaces=NAMESPACES), mode)
        else:
            registry.add(name, xquery(random_xquery(random)))
    except PenstockError:
        return  # some random texts are rejected, with or without a schema


def attack(seed: int, count: int) -> Tally:
    """Evaluate ``count`` cases with and without their schemas."""
    tally = Tally()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(seed, seed + count):
            _check(number, tally)
    return tally


def _check(seed: int, tally: Tally) -> None:
    case = random_case(seed)
    tally.cases += 1
    known = case.schema()
    plain = rows_of(case, None)
    tally.non_empty += bool(plain)
    checked = rows_of(case, known)
    _compare(
        case,
        "verify",
        Counter(map(described, plain)),
        Counter(map(described, checked)),
        seed,
        tally,
    )
    fitting = [one for one in case.documents if one.id in case.fitting]
    trusted = rows_of(
        Case(case.dtd, case.registry, fitting, case.fitting), known.with_mode("trust")
    )
    before = Counter(result_of(row) for row in plain if row.document in case.fitting)
    _compare(case, "trust", before, Counter(map(result_of, trusted)), seed, tally)
    # What is pushed returns no error rows of subscriptions.
    whole = Counter(described(row) for row in trusted if row.error is None)
    _compare(case, "fed", whole, Counter(map(described, fed_rows_of(case, known))), seed, tally)


def rows_of(case: Case, known: Schema | None) -> list[Result]:
    """Return the rows of all documents, under a schema or without one."""
    schemas = None if known is None else {"default": known}
    return [*Engine(case.registry, suspend_after=None, schemas=schemas).run(case.documents)]


def fed_rows_of(case: Case, known: Schema) -> list[Result]:
    """Return the rows of the documents that fit, in two pieces, under a schema that is trusted."""
    engine = Engine(
        case.registry, suspend_after=None, schemas={"default": known.with_mode("trust")}
    )
    rows = []
    for document in case.documents:
        if document.id in case.fitting:
            data = document.data
            assert isinstance(data, bytes)
            opened = engine.open(id=document.id)
            rows += opened.feed(data[: len(data) // 2]) + opened.feed(data[len(data) // 2 :])
            rows += opened.finish()
    return rows


def described(row: Result) -> tuple[Any, ...]:
    """Return all of a row that may not depend on a schema."""
    return (*result_of(row), row.ordinal, row.decided_at)


def result_of(row: Result) -> tuple[Any, ...]:
    """Return a row without the moment of its decision, which a trusted schema moves."""
    error = None if row.error is None else (row.error.code, row.error.byte)
    return row.subscription, row.document, row.kind, row.name, row.value, row.start, row.end, error


def _compare(
    case: Case,
    mode: str,
    expected: Counter[tuple[Any, ...]],
    found: Counter[tuple[Any, ...]],
    seed: int,
    tally: Tally,
) -> None:
    if expected == found:
        return
    missing, added = expected - found, found - expected
    names = {row[0] for row in (missing + added)} - {None}
    queries = [case.registry[name].text for name in sorted(names)][:3]
    shown = f"{mode}: {queries}\n{case.dtd}\n  without {[*missing][:2]}\n  with {[*added][:2]}"
    tally.failures.append(Failure("wrong", seed, shown))
