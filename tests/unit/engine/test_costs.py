"""Costs are bounded: memory, steps, results; who is to blame fails alone; runs can be stopped."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

import penstock
from penstock.errors import CancelledError, RegistryError
from penstock.results import Result

GREEDY = "//a[preceding::a/following::a = .]"
"""It looks at pairs of nodes."""
FREE = {"pairs_max": 1 << 40, "steps_max": 1 << 60, "memory_bytes_max": 1 << 40}


def siblings(count: int) -> bytes:
    return b"<r>" + b"<a>x</a>" * count + b"</r>"


def nested(depth: int, text: bytes = b"") -> bytes:
    return b"<a>" * depth + text + b"</a>" * depth


def engine_of(limits: penstock.Limits, **queries: str) -> penstock.Engine:
    registry = penstock.Registry()
    for name, query in queries.items():
        registry.add(name, query)
    return penstock.Engine(registry, limits)


def faults(rows: list[Result]) -> list[tuple[str | None, str]]:
    return [(row.subscription, row.error.code) for row in rows if row.error is not None]


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"steps_max": 10_000}, "PL0014"),
        ({"memory_bytes_max": 2_000_000, "steps_max": 1 << 60}, "PL0013"),
    ],
)
def test_who_is_to_blame_fails_alone(limits: dict[str, int], code: str) -> None:
    engine = engine_of(penstock.Limits(**limits), greedy=GREEDY, number="count(//a)", all="//a")
    rows = list(engine.run([siblings(3_000), b"<r><a/></r>"]))
    assert faults(rows) == [("greedy", code)]
    assert [row.value for row in rows if row.subscription == "number"] == ["3000", "1"]
    assert [row.ordinal for row in rows if row.subscription == "all"] == [*range(3_000), 0]
    error = next(row for row in rows if row.error is not None)
    assert error.source is None


def test_a_document_that_is_fed_fails_as_a_whole_and_names_who_is_to_blame() -> None:
    engine = engine_of(penstock.Limits(steps_max=10_000), greedy=GREEDY, number="count(//a)")
    document = engine.open()
    with pytest.raises(penstock.errors.LimitError, match="subscription `greedy`") as caught:
        document.feed(siblings(3_000))
    assert caught.value.limit == "steps_max"


def test_steps_are_counted_beyond_an_allowance_for_each_byte() -> None:
    engine = engine_of(penstock.Limits(steps_max=1_000), all="//a[. = 'x']")
    rows = list(engine.run(siblings(100_000)))
    assert not faults(rows)
    assert len(rows) == 100_000


def test_a_stopped_session_reads_the_next_document() -> None:
    engine = engine_of(penstock.Limits(steps_max=10_000), greedy=GREEDY)
    documents = [siblings(2_000), b"<r><a>x</a><a>x</a><a>x</a></r>"] * 2
    rows = list(engine.run(documents))
    assert faults(rows) == [("greedy", "PL0014")] * 2
    assert sum(row.error is None for row in rows) == 2 * 2


def test_results_of_one_subscription_are_limited() -> None:
    engine = engine_of(penstock.Limits(results_max=5), few="/r", many="//a")
    for rows in (list(engine.run([siblings(9)])), list(engine.run([siblings(200_000)]))):
        assert faults(rows) == [("many", "PL0016")]
        assert [row.ordinal for row in rows if row.subscription == "many"] == [0, 1, 2, 3, 4, -1]
        assert sum(row.subscription == "few" for row in rows) == 1


@pytest.mark.parametrize("document", [nested(6_000), nested(300, b"x" * 300_000)])
def test_results_are_handed_out_in_portions(document: bytes) -> None:
    engine = engine_of(penstock.Limits(), all="//*", number="count(//*)")
    rows, most = 0, 0
    for step in engine.steps(document):
        rows += len(step)
        most = max(most, sum(len(row.value or "") for row in step))
    depth = document.count(b"<a>")
    assert rows == depth + 1
    assert most < 32 << 20


@pytest.mark.parametrize("call", ["batches", "matches"])
def test_portions_have_all_rows_whoever_takes_them(call: str) -> None:
    engine = engine_of(penstock.Limits(), all="//*")
    documents = [b"<a/>", nested(4_000), b"<a/>"]
    if call == "batches":
        assert sum(batch.num_rows for batch in engine.batches(documents)) == 4_002
        return
    found = list(engine.matches(documents))
    assert sum(part.fragments.num_rows for part in found) == 4_002


def test_a_subscription_is_suspended_and_resumed() -> None:
    engine = engine_of(penstock.Limits(steps_max=10_000), greedy=GREEDY, number="count(//a)")
    bad, good = siblings(2_000), b"<r><a/></r>"
    assert faults(list(engine.run([bad, bad, good, bad, good]))) == [("greedy", "PL0014")] * 3
    assert engine.suspended() == {}
    rows = list(engine.run([bad] * 5))
    expected = [("greedy", "PL0014")] * 3 + [("greedy", "PL0018")]
    assert faults(rows) == expected
    assert sum(row.subscription == "number" for row in rows) == 5
    assert len({row.id for row in rows}) == len(rows)
    assert [error.code for error in engine.suspended().values()] == ["PL0014"]
    assert faults(list(engine.run([bad] * 2))) == []
    engine.resume("greedy")
    assert faults(list(engine.run(bad))) == [("greedy", "PL0014")]
    with pytest.raises(RegistryError, match="PR0012"):
        engine.resume("greedy")
    with pytest.raises(RegistryError, match="PR0002"):
        engine.resume("nobody")


def test_a_subscription_that_is_replaced_is_not_suspended() -> None:
    engine = engine_of(penstock.Limits(steps_max=10_000), greedy=GREEDY)
    list(engine.run([siblings(2_000)] * 3))
    assert list(engine.suspended()) == ["greedy"]
    engine.registry.replace("greedy", "//a[1]")  # type: ignore[attr-defined]
    assert engine.suspended() == {}
    assert len(list(engine.run(b"<r><a/></r>"))) == 1


def test_nobody_is_suspended_if_nobody_is_to_be() -> None:
    registry = penstock.Registry()
    registry.add("greedy", GREEDY)
    engine = penstock.Engine(registry, penstock.Limits(steps_max=10_000), suspend_after=None)
    assert len(faults(list(engine.run([siblings(2_000)] * 5)))) == 5
    with pytest.raises(ValueError, match="suspend_after"):
        penstock.Engine(registry, suspend_after=0)


PEAK = """
import sys
from pathlib import Path

import penstock


def peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM"))


registry = penstock.Registry()
registry.add("keeps", "//a[following::z]")
free = dict(pairs_max=1 << 40, steps_max=1 << 60, candidates_max=1 << 40, buffer_bytes_max=1 << 40)
engine = penstock.Engine(registry, penstock.Limits(**free))
document = b"<r>" + b"".join(b"<a x='%d'>%d</a>" % (i, i) for i in range(500_000)) + b"</r>"
list(engine.run(b"<r><a/></r>"))
Path("/proc/self/clear_refs").write_text("5")
before = peak()
(row,) = engine.run(document)
print(row.error.code, (peak() - before) / engine.limits.memory_bytes_max)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="Linux tells the peak")
def test_the_memory_of_the_process_stays_within_the_default_limit() -> None:
    done = subprocess.run([sys.executable, "-c", PEAK], capture_output=True, text=True, check=True)
    code, share = done.stdout.split()
    assert code == "PL0013"
    assert 0.7 < float(share) < 1.1


class Endless(io.RawIOBase):
    """A document without end; ``then`` is called when somebody reads on in it."""

    def __init__(self, then: Callable[[], None] = lambda: None) -> None:
        self.then = then
        self.reads = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.reads += 1
        if self.reads == 1:
            return b"<r>"
        self.then()
        return b"<a>x</a>" * 1_000


@pytest.mark.parametrize("query", ["//a", GREEDY])
def test_cancel_ends_a_run_in_the_middle_of_a_document(query: str) -> None:
    engine = engine_of(penstock.Limits(**FREE), q=query)
    with pytest.raises(CancelledError):
        list(engine.run(Endless(engine.cancel)))  # type: ignore[arg-type]
    assert len(list(engine.run(b"<r><a>x</a><a>x</a></r>"))) == (2 if query == "//a" else 1)


def test_cancel_ends_open_documents() -> None:
    engine = engine_of(penstock.Limits(), all="//a")
    document, other = engine.open(), engine.open()
    document.feed(b"<r><a/>")
    engine.cancel()
    for opened in (document, other):
        with pytest.raises(CancelledError):
            opened.feed(b"<r><a/>")
    assert len(engine.open().feed(b"<r><a/>")) == 1


INTERRUPTED = """
import sys
import penstock

registry = penstock.Registry()
registry.add("greedy", "//a[preceding::a/following::a = .]")
free = dict(pairs_max=1 << 40, steps_max=1 << 60, memory_bytes_max=1 << 40)
engine = penstock.Engine(registry, penstock.Limits(**free))
try:
    print("ready", flush=True)
    list(engine.run(b"<r>" + b"<a>x</a>" * 100_000 + b"</r>"))
except KeyboardInterrupt:
    print(len(list(engine.run(b"<r><a>x</a><a>x</a><a>x</a></r>"))))
    sys.exit(130)
"""


def test_a_signal_ends_a_run_in_the_middle_of_a_document() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        os.kill(process.pid, signal.SIGINT)
        output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (130, "2\n")


def test_a_generator_that_is_closed_reads_no_further() -> None:
    engine = engine_of(penstock.Limits(), all="//a")
    document = Endless()
    rows = engine.run(document)  # type: ignore[arg-type]
    next(rows)
    rows.close()  # type: ignore[attr-defined]
    assert document.reads < 5
