"""Sweeps vary what they say they vary, and their promises are computed from what was measured."""

from pathlib import Path

import pytest

from benchmarks import peers
from benchmarks.child import digest
from benchmarks.experiments import reverse
from benchmarks.workloads import sweeps, xmark
from benchmarks.workloads.queries import Query
from benchmarks.workloads.sweeps import SWEEPS, Sweep, coloured, ordered

BY_NAME = {sweep.name: sweep for sweep in SWEEPS}
AUCTION = [(s.name, query) for s in SWEEPS if s.document is None for query in s.queries]


@pytest.fixture(scope="module")
def auction(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return xmark.cached(tmp_path_factory.mktemp("bench"), 0.01).read_bytes()


def answer(query: Query, data: bytes, system: str = "lxml_tree") -> dict[str, object]:
    peer = peers.load(system)
    return digest(peer.values(peer.prepare(query)(data)), query.compare)


@pytest.mark.parametrize(("name", "query"), AUCTION, ids=str)
def test_the_engine_gives_the_reference_answer(name: str, query: Query, auction: bytes) -> None:
    assert answer(query, auction, "penstock_kernel") == answer(query, auction)


def test_closures_do_not_change_the_result(auction: bytes) -> None:
    answers = [answer(query, auction) for query in BY_NAME["closures"].queries]
    assert answers == answers[:1] * 10
    assert answers[0]["count"] != 0


def test_the_last_predicates_leave_nothing(auction: bytes) -> None:
    counts = [answer(query, auction)["count"] for query in BY_NAME["predicates"].queries]
    assert counts == counts[:1] * 8 + [0] * 3


def test_no_ordered_record_is_a_result_whatever_decides() -> None:
    document = b"".join(ordered())
    assert document.count(b"<A ") == document.count(b"<posterior>") == sweeps.RECORDS
    for query in BY_NAME["order"].queries:
        assert answer(query, document)["count"] == 0


def test_colours_come_in_their_proportions() -> None:
    document = b"".join(coloured())
    red, green, blue = (document.count(b"<" + name) for name in (b"red>", b"green>", b"blue>"))
    assert green / red == pytest.approx(3, rel=0.05)
    assert blue / red == pytest.approx(6, rel=0.05)


def test_a_document_of_a_sweep_is_written_once(tmp_path: Path) -> None:
    sweep = Sweep("tiny", "", (), lambda: iter([b"<a>", b"</a>"]))
    path = sweeps.cached(tmp_path, sweep)
    assert path.read_bytes() == b"<a></a>"
    assert sweeps.cached(tmp_path, Sweep("tiny", "", (), lambda: iter([]))) == path
    assert path.read_bytes() == b"<a></a>"


def measured(seconds: dict[str, float], size: int) -> dict[str, object]:
    times = [
        {"system": system, "query": query.name, "seconds": [value]}
        for system, value in seconds.items()
        for query in reverse.ASKED
    ]
    return {"bytes": size, "times": times}


def test_promises_are_ratios_of_what_was_measured() -> None:
    result = {
        "timed": {name: {"name": name} for name in reverse.SYSTEMS},
        "documents": {
            "small": measured({"penstock_batches": 1.0}, 100),
            "large": measured({"penstock_batches": 8.0, "lxml_tree": 24.0}, 1000),
        },
    }
    kept = {row["what"]: (row["best"], row["promise"]) for row in reverse.kept_promises(result)}
    assert kept == {
        "reverse axes / lxml_tree (9 of 9 queries)": (pytest.approx(3.0), 5.0),
        "four axes (R16) / none (R13)": (pytest.approx(1.0), 0.8),
        "large / small document, MB/s": (pytest.approx(1.25), 0.9),
    }
