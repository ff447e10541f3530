"""What samples have: how many nodes paths reach, and which names and values these nodes have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from penstock.engine.diagnosis.samples import Samples
from penstock.engine.follower import Fixed
from penstock.engine.reading import EACH_PIECE, Reader
from penstock.kernel import Plan, Session
from penstock.planning.compile import compile_query
from penstock.twigs import Query

_DISTINCT_MAX = 10_000
_NODES_MAX = 200_000


def count_nodes(queries: Sequence[Query], samples: Samples) -> list[int]:
    """Return how many nodes each query selects in all samples, which are read once."""
    session = Session(Plan.build([compile_query(query, is_spans=True) for query in queries]))
    for portion in Reader(Fixed(session), EACH_PIECE).run(samples):
        # A portion that is not kept is counted nevertheless.
        samples.is_cut = samples.is_cut or bool(portion.errors)
    counts = [0] * len(queries)
    for number, matches, _, _ in session.take_usage():
        counts[number] += matches
    return counts


def count_names(query: Query, samples: Samples) -> Counter[str]:
    """Return the names of the nodes that a query selects, and how often each occurs."""
    return _counted(name for name, _ in _rows(query, samples, is_spans=True))


def count_values(query: Query, samples: Samples) -> Counter[str]:
    """Return the values beside the nodes of a query that selects ``value`` beside them."""
    return _counted(value for _, value in _rows(query, samples, is_spans=False))


def _rows(query: Query, samples: Samples, *, is_spans: bool) -> Iterator[tuple[str, str]]:
    session = Session(Plan.build([compile_query(query, is_spans=is_spans)]))
    seen = 0
    for portion in Reader(Fixed(session), EACH_PIECE).run(samples):
        rows, _, bindings = portion.batch.rows()
        for place, row in enumerate(rows):
            yield row[3], (bindings.get(place) or {}).get("value") or ""
        seen += len(rows)
        if seen >= _NODES_MAX:
            samples.is_cut = True
            return


def _counted(words: Iterator[str]) -> Counter[str]:
    counted: Counter[str] = Counter()
    for word in words:
        if word in counted or len(counted) < _DISTINCT_MAX:
            counted[word] += 1
    return counted
