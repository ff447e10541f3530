"""Workers that follow a registry: whatever changes, a micro-batch gives what its version says."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary

import pyarrow as pa
import pytest

import penstock
from penstock.errors import RegistryError
from penstock.kernel import Session
from penstock.limits import Limits
from penstock.registry.durable import DurableRegistry
from penstock.registry.plans import files, live
from penstock.registry.plans.pins import Pins
from penstock.registry.plans.published import read_list
from penstock.registry.storage.folder import PLANS, TIERS
from penstock.registry.storage.table import plan_name
from penstock.spark import plans, tiers, worker
from penstock.spark.plans import PinnedPlan
from penstock.spark.worker import Job, evaluate

XSCL = "S//a->x[b->y] FOLLOWED BY{y=z, 5} S//a->w[b->z]"


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give every test a host and a process that have seen nothing yet."""
    (tmp_path / "host").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "host"))
    monkeypatch.setattr(worker, "_idle", type(worker._idle)())
    monkeypatch.setattr(tiers, "_known", WeakValueDictionary())


class Stream:
    """The micro-batches of a stream, as its workers compute them."""

    def __init__(self, folder: Path, query: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.query = folder, query
        self._patch = monkeypatch
        self._batch = pa.RecordBatch.from_arrays(
            [
                pa.array([b"<r>" + b"".join(b"<x y='%d'/>" % n for n in range(50)) + b"</r>"]),
                pa.array(["d"]),
                pa.nulls(1, pa.timestamp("us", tz="UTC")),
                pa.array(["default"]),
            ],
            names=["__document", "__id", "__time", "__stream"],
        )

    def pin(self, batch: int) -> str:
        """Begin a micro-batch, without a task yet; return its list."""
        return plan_name(Pins(self.folder).pin(self.query, batch))

    def run(self, batch: int) -> list[tuple[str, str]]:
        """Compute a micro-batch; return who found what."""
        self._patch.setattr(PinnedPlan, "key", lambda _: self.pin(batch))
        job = Job(PinnedPlan(str(self.folder)), Limits(), False)
        rows = [row for one in evaluate(job, iter([self._batch])) for row in one.to_pylist()]
        return sorted((row["subscription"], row["value"]) for row in rows)


def filled(folder: Path, count: int = 100) -> DurableRegistry:
    registry = penstock.Registry.open(folder)
    registry.load([f'{{"name": "s{n}", "query": "{query(n)}"}}' for n in range(count)], workers=0)
    registry.follow()
    return registry


def query(number: int) -> str:
    return f"//x[@y = {number % 50}]"


def expected(registry: DurableRegistry) -> list[tuple[str, str]]:
    """Return what a registry in memory with the same subscriptions finds."""
    memory = penstock.Registry()
    for one in registry:
        memory.add(one.name, one.text)
    document = "<r>" + "".join(f"<x y='{n}'/>" for n in range(50)) + "</r>"
    return sorted(
        (str(row.subscription), str(row.value)) for row in penstock.Engine(memory).run(document)
    )


@pytest.mark.parametrize("count", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_many_changes_between_two_micro_batches(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path / "r")
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    assert stream.run(0) == expected(registry)
    for number in range(count):
        name = f"s{number * 37 % 140}"
        if name in registry:
            registry.remove(name)
        else:
            registry.add(name, query(number))
    assert stream.run(1) == expected(registry)
    listed = read_list(tmp_path / "r" / PLANS / stream.pin(1))
    assert len(listed) < 10
    # What the versions in between had goes as soon as nobody can be at it any more.
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    for number in range(2 * count // 200 + 1):  # each removes a few
        registry.add(f"last{number}", "//x")
    assert len(list((tmp_path / "r" / PLANS).iterdir())) <= 10
    assert len(list((tmp_path / "r" / TIERS).iterdir())) <= 60
    assert stream.run(2) == expected(registry)
    assert len(worker._idle) == 1


def test_a_stream_that_stands_still_while_everything_is_merged_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    monkeypatch.setattr(live, "SMALL_MAX", 4)
    registry = filled(tmp_path / "r", 40)
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    before = stream.run(0)
    ((session, _),) = worker._idle.values()
    for number in range(90):
        registry.add(f"more{number}", query(number))
        if number % 9 == 0:
            registry._current.wait()
    registry._current.wait()
    registry.remove("more7")
    assert stream.run(1) == expected(registry)
    ((again, _),) = worker._idle.values()
    assert again is session
    # The batch before may be computed again, by who still has its plan or by a new worker.
    assert stream.run(0) == before
    worker._idle.clear()
    assert stream.run(0) == before


def test_workers_that_start_late_find_the_version_of_their_micro_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "FRESH_SECONDS", -1.0)
    registry = filled(tmp_path / "r")
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    registry.add("first", "//x")
    stream.pin(0)
    before = expected(registry)
    for number in range(100):
        registry.remove(f"s{number}")
    registry.add("second", "//x")
    registry._current.wait()
    assert stream.run(0) == before
    assert stream.run(1) == expected(registry)


def test_two_streams_at_different_versions_share_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path / "r")
    slow, fast = (Stream(tmp_path / "r", name, monkeypatch) for name in ("slow", "fast"))
    slow.pin(0)
    before = expected(registry)
    for batch in range(12):
        registry.replace(f"s{batch}", "//x[@y = 49]")
        registry.add(f"more{batch}", query(batch))
        assert fast.run(batch) == expected(registry)
        assert slow.run(0) == before
    assert len(worker._idle) <= worker._SESSIONS_KEPT


def test_a_name_that_is_removed_and_added_again_has_its_new_query_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path / "r")
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    stream.run(0)
    for text in ("//x[@y = 3]", "//x[@y = 4]", "//x[@y = 5]"):
        registry.remove("s7")
        registry.add("s7", text)
    found = stream.run(1)
    assert [value for name, value in found if name == "s7"] == ["<x y='5'/>"]
    assert found == expected(registry)
    monkeypatch.setattr(worker, "suspended_here", lambda: ["s7"])
    assert stream.run(1) == [one for one in found if one[0] != "s7"]


def test_a_join_that_was_removed_again_stops_no_stream(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = filled(tmp_path / "r")
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    registry.add("join", penstock.xscl(XSCL))
    with pytest.raises(RegistryError, match="PR0011"):
        stream.run(0)
    registry.remove("join")
    assert stream.run(1) == expected(registry)


def test_what_was_learnt_about_a_tier_outlives_a_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    class Sessions(Session):
        def __init__(self, *args: Any, **how: Any) -> None:
            made.append(self)
            super().__init__(*args, **how)

    monkeypatch.setattr(worker, "Session", Sessions)
    # Event by event, so that states are built.
    registry = filled(tmp_path / "r", 30)
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    stream.run(0)
    (session,) = made
    built = session.statistics().states_built
    for number in range(5):
        registry.add(f"more{number}", "//nothing")
        stream.run(number + 1)
    assert made == [session]
    large, small = built, session.statistics().states_built - built
    assert 0 < small < 5 * large


def test_the_files_of_a_host_are_few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiers, "COPIED_BYTES_MIN", 10_000)
    registry = filled(tmp_path / "r")
    stream = Stream(tmp_path / "r", "q", monkeypatch)
    for number in range(20):
        registry.add(f"more{number}", query(number))
        stream.run(number)
    (copy,) = (tmp_path / "host").glob("penstock-plans-*/pinned-*")
    assert copy.stat().st_size >= 10_000


def test_views_of_micro_batches_are_shipped_as_tiers_that_they_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plans, "EMBEDDED_BYTES_MAX", 10_000)
    added: list[str] = []
    monkeypatch.setattr(plans, "_add_artifact", lambda _, path: added.append(path.name))
    monkeypatch.setattr(plans.ShippedPlan, "_arrived", lambda own: own.data or b"")
    registry = filled(tmp_path / "r")
    batch = Stream(tmp_path / "r", "q", monkeypatch)._batch
    frame: Any = SimpleNamespace(isStreaming=False, sparkSession=None)
    for number in range(4):
        registry.add(f"more{number}", query(number))
        registry.remove(f"s{number}")
        view = registry.at(registry.version)
        reference = plans.ship(view, frame)
        assert isinstance(reference, plans.ShippedTiers)
        assert [tier.data is None for tier, _ in reference.tiers] == [True, False]
        pickled = pickle.loads(pickle.dumps(reference))
        assert pickled.key() == reference.key()
        found = evaluate(Job(pickled, Limits(), False), iter([batch]))
        rows = [row for one in found for row in one.to_pylist()]
        assert sorted((row["subscription"], row["value"]) for row in rows) == expected(registry)
    assert len(set(added)) == 1
    assert len(worker._idle) == 1
    assert plans.ship(registry.at(1), frame).key() != reference.key()
