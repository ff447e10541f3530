"""Times of the product's broker and of the paper's strategies over one workload."""

from __future__ import annotations

import gc
import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field

from benchmarks.broker.documents import DocumentParameters, documents
from benchmarks.broker.dtds import dtd_of
from benchmarks.broker.programs import programs_of
from benchmarks.broker.queries import (
    BINDING_DEPTHS,
    Flwr,
    QueryParameters,
    unique_plans,
    unique_queries,
)
from papers.yfilter.broker import Answers, Broker
from papers.yfilter.options import BrokerOptions
from penstock import schema

DEFAULT = BrokerOptions()
CHECKED = 3
"""Messages of so many documents are compared between strategies."""


@dataclass(frozen=True)
class Workload:
    """Queries and documents; the names of the paper's table 1 are in ``QueryParameters``."""

    name: str
    count: int
    values: int = 10
    returns: int = 2
    predicates: int = 1
    is_of_plans: bool = True
    """Queries differ in their plans, not just as written."""
    documents: int = 200
    warm_up: int = 20

    def queries(self) -> list[Flwr]:
        """Return the queries as written."""
        parameters = QueryParameters(
            BINDING_DEPTHS[self.name],
            predicates=self.predicates,
            returns=self.returns,
            values=self.values,
        )
        draw = unique_plans if self.is_of_plans else unique_queries
        return list(draw(dtd_of(self.name), parameters, self.count))

    def texts(self) -> list[bytes]:
        """Return the documents."""
        parameters = DocumentParameters(values=self.values)
        return list(documents(dtd_of(self.name), self.documents, parameters))


@dataclass
class Times:
    """Milliseconds for a document, without parsing; each document's are the least of its passes."""

    asking: float
    """Up to the lists; for the product's broker up to rows that name messages."""
    messages: float
    """Writing messages, and saying who gets them."""
    reading: float
    """All of it, with parsing."""
    rows: float
    distinct: float
    megabytes: float
    build_seconds: float
    digest: str
    operators: dict[str, int]
    costs: dict[str, float] = field(default_factory=dict)

    @property
    def both(self) -> float:
        """Up to the messages."""
        return self.asking + self.messages


def measure(
    queries: list[Flwr],
    workload: Workload,
    options: BrokerOptions = DEFAULT,
    *,
    repeat: int = 3,
    subscribers: int = 1,
) -> Times:
    """Return the times of a strategy; with knowledge of the schema queries are rewritten first."""
    dtd = dtd_of(workload.name)
    knows_schema = options.knowledge == "schema"
    written = [query.plan(dtd) for query in queries] if knows_schema else queries
    programs = [program for program in programs_of(written) for _ in range(subscribers)]
    texts = workload.texts()
    started = time.perf_counter()
    broker = Broker(programs, options, schema(dtd.path, mode="trust") if knows_schema else None)
    broker.ask(texts[0])
    built = time.perf_counter() - started
    rows, distinct, size, digest = _outcome(broker, texts)
    timed = texts[workload.warm_up :]
    broker.take_costs()
    least: list[Counter[str]] = []
    for _ in range(repeat):
        passed = [_read(broker, text) for text in timed]
        least = [
            Counter({key: min(one[key], other[key]) for key in {*one, *other}})
            for one, other in zip(least or passed, passed, strict=True)
        ]
    total: Counter[str] = Counter()
    for one in least:
        total.update(one)
    mean = {key: 1e3 * value / len(timed) for key, value in total.items()}
    operators = {"query": len(programs), **broker.counts()}
    del broker
    gc.collect()
    return Times(
        asking=mean.pop("asking"),
        messages=mean.pop("messages"),
        reading=mean.pop("reading"),
        rows=rows,
        distinct=distinct,
        megabytes=size / 1e6,
        build_seconds=built,
        digest=digest,
        operators=operators,
        costs=mean,
    )


def _read(broker: Broker, text: bytes) -> Counter[str]:
    started = time.perf_counter()
    broker.ask(text)
    taken = time.perf_counter() - started
    return Counter({**broker.take_costs(), "reading": taken})


def _outcome(broker: Broker, texts: list[bytes]) -> tuple[float, float, float, str]:
    """Return rows, distinct messages and their bytes for a document, and what identifies them."""
    rows = distinct = size = 0
    digest = hashlib.sha256()
    for number, text in enumerate(texts):
        answers = broker.ask(text)
        assert isinstance(answers, Answers), "the workload has no document that is left"
        sent = answers.sent()
        rows += len(sent)
        distinct += len({message for _, message in answers.rows})
        size += sum(len(one) for one in answers.messages if isinstance(one, bytes))
        if number < CHECKED:
            digest.update(repr(sent).encode())
    count = len(texts)
    return rows / count, distinct / count, size / count, digest.hexdigest()
