"""What subscriptions did and cost."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import penstock
from penstock import Registry, kernel
from penstock.planning.programs import compile_program
from penstock.registry.plans import live


@pytest.mark.parametrize("how", ["run", "batches", "open"])
def test_matches_are_counted_by_name_whoever_reads_and_whatever_changes(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "SMALL_MAX", 1)
    registry = Registry()
    registry.add("a", "//a")
    registry.add("b", "//b")
    registry.add("c", "//c")
    engine = penstock.Engine(registry)
    document = b"<r><a/><a/><b/></r>"

    def documents() -> Any:
        for number in range(4):
            registry.add(f"later{number}", "//a")
            yield document

    before = datetime.now(UTC) - timedelta(seconds=2)
    if how == "open":
        for one in documents():
            with engine.open() as opened:
                opened.feed(one)
    else:
        list(getattr(engine, how)(documents()))
    counted = engine.statistics()
    names = ["a", "b", "c", "later0", "later3"]
    assert [counted.of(name).matches for name in names] == [8, 4, 0, 8, 2]
    assert counted.of("c").last_match is None
    last = counted.of("a").last_match
    assert last is not None
    assert before <= last <= datetime.now(UTC) + timedelta(seconds=2)
    assert [one.name for one in counted.top(2, by="matches")] == ["a", "later0"]
    assert sum(one.cost_share for one in counted.top(100)) == pytest.approx(1)


def test_work_without_rows_is_charged_to_who_asks() -> None:
    registry = Registry()
    registry.add("busy", "//a[b = 'x' and .//c]//d[e]")
    registry.add("idle", "//z[@y]")
    registry.add("cheap", "/r/one")
    engine = penstock.Engine(registry)
    document = "<r><one/>" + "<a><b>x</b><d/></a>" * 20_000 + "</r>"
    assert len(list(engine.run(document))) == 1
    counted = engine.statistics()
    assert counted.top(1)[0].name == "busy"
    assert counted.of("busy").cost_share > 0.9
    assert counted.of("idle").cost_share == 0


def test_bytes_are_held_by_who_waits_for_them() -> None:
    registry = Registry()
    registry.add("waits", "//a[z]")
    registry.add("never", "//b")
    engine = penstock.Engine(registry)
    with engine.open() as opened:
        opened.feed(b"<r><a>" + b"x" * 1000)
        held = engine.statistics().of("waits").held_bytes
        opened.feed(b"</a></r>")
        assert 900 < held <= 1010
        assert engine.statistics().of("waits").held_bytes == 0
        assert engine.statistics().of("never").held_bytes == 0


def test_what_stays_is_told_of_later() -> None:
    large, small, other = (
        kernel.Plan.build([compile_program(text) for text in texts])
        for texts in (["//a"] * 100, ["//b", "//a"], ["//b"])
    )
    before = kernel.Plan.attached([(large, 0), (small, 100)])
    after = kernel.Plan.attached([(large, 0), (other, 100)])
    session = kernel.Session(before)
    session.read_whole(b"<r><a/><b/></r>")
    session.take()
    assert {number for number, *_ in session.take_usage(after)} == {100, 101}
    session.adopt(after)
    session.read_whole(b"<r><a/></r>")
    session.take()
    assert {number: matches for number, matches, *_ in session.take_usage()} == dict.fromkeys(
        range(100), 2
    )
