"""Times of the broker's strategies over one workload, taken in the kernel."""

from __future__ import annotations

import gc
import hashlib
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

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
from penstock import kernel, schema
from penstock.limits import Limits
from penstock.planning.brokering import BrokerOptions

DEFAULT = BrokerOptions()
CHECKED = 3
"""Messages of so many documents are compared between strategies."""
_LIMITS = Limits(steps_max=1 << 60)


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
    """Up to the lists; for the default strategy up to rows that name messages."""
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
    session = kernel.Session(
        kernel.Plan.build(programs),
        _LIMITS,
        broker=options,
        schema=schema(dtd.path, mode="trust") if knows_schema else None,
    )
    session.read_whole(texts[0])
    session.take()
    built = time.perf_counter() - started
    rows, distinct, size, digest = _outcome(session, texts)
    timed = texts[workload.warm_up :]
    session.take_broker_costs()
    least: list[Counter[str]] = []
    for _ in range(repeat):
        passed = [_read(session, text) for text in timed]
        least = [
            Counter({key: min(one[key], other[key]) for key in {*one, *other}})
            for one, other in zip(least or passed, passed, strict=True)
        ]
    total: Counter[str] = Counter()
    for one in least:
        total.update(one)
    mean = {key: 1e3 * value / len(timed) for key, value in total.items()}
    operators = session.broker_operators()
    del session
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


def _read(session: kernel.Session, text: bytes) -> Counter[str]:
    started = time.perf_counter()
    session.read([(text, None, "default")], with_times=False)
    session.take()
    taken = time.perf_counter() - started
    return Counter({**session.take_broker_costs(), "reading": taken})


def _outcome(session: kernel.Session, texts: list[bytes]) -> tuple[float, float, float, str]:
    """Return rows, distinct messages and their bytes for a document, and what identifies them."""
    rows = distinct = size = 0
    digest = hashlib.sha256()
    for number, text in enumerate(texts):
        session.read([(text, None, "default")], with_times=False)
        entries, fragments = (_columns(one) for one in session.take().matches())
        rows += len(entries)
        distinct += len(fragments)
        size += fragments.column("value").nbytes
        if number < CHECKED:
            values = fragments.column("value").to_pylist()
            lists = entries.column("fragments").to_pylist()
            names = entries.column("subscription").to_pylist()
            sent = sorted(
                (name, values[one]) for name, own in zip(names, lists, strict=True) for one in own
            )
            digest.update(repr(sent).encode())
    count = len(texts)
    return rows / count, distinct / count, size / count, digest.hexdigest()


def _columns(columns: Any) -> Any:
    import pyarrow as pa

    return pa.record_batch(columns)
