"""The progressive join from Python: the same tuples as brute force, through real files."""

import random
from datetime import timedelta
from itertools import product
from typing import Any

import pytest

from penstock.errors import CancelledError, LimitError, SettingError, StateError
from penstock.joins import Comparison, Equality, JoinGraph, JoinOptions, ProgressiveJoiner, Side
from penstock.limits import Limits

Binding = tuple[int, list[list[bytes]], int]

PAIR = JoinGraph([1, 1], [Equality(Side(0, 0), Side(1, 0))])
CHAIN = JoinGraph(
    [1, 2, 2],
    [Equality(Side(0, 0), Side(1, 0)), Equality(Side(1, 1), Side(2, 0))],
    [Comparison(Side(0, 0), "<", Side(2, 1), is_number=True)],
    within_us=150,
)


def bindings_of(graph: JoinGraph, count: int, domain: int, seed: int) -> list[Binding]:
    """Return bindings with one value or two for each attribute."""
    chance = random.Random(seed)

    def values() -> list[bytes]:
        return [b"%d" % chance.randrange(domain) for _ in range(chance.choice((1, 1, 2)))]

    streams = [chance.randrange(len(graph.attributes)) for _ in range(count)]
    return [
        (stream, [values() for _ in range(graph.attributes[stream])], time)
        for time, stream in enumerate(streams)
    ]


def brute_force(graph: JoinGraph, bindings: list[Binding]) -> set[tuple[int, ...]]:
    """Return the arrival numbers of all tuples."""
    sides = [
        [(at, binding) for at, binding in enumerate(bindings, start=1) if binding[0] == stream]
        for stream in range(len(graph.attributes))
    ]

    def holds(parts: tuple[tuple[int, Binding], ...]) -> bool:
        def values(side: Side) -> list[bytes]:
            return parts[side.stream][1][1][side.attribute]

        times = [binding[2] for _, binding in parts]
        return (
            (graph.within_us is None or max(times) - min(times) <= graph.within_us)
            and all(set(values(edge.left)) & set(values(edge.right)) for edge in graph.equalities)
            and all(
                any(int(a) < int(b) for a in values(edge.left) for b in values(edge.right))
                for edge in graph.comparisons
            )
        )

    return {tuple(at for at, _ in parts) for parts in product(*sides) if holds(parts)}


def fragment_of(arrival: int) -> bytes:
    return b"<binding>%d</binding>" % arrival * 5


@pytest.mark.parametrize("graph", [PAIR, CHAIN], ids=["pair", "chain"])
@pytest.mark.parametrize("state_bytes_max", [4_000, 20_000, 1 << 30])
@pytest.mark.parametrize("seed", [3, 4, 6])
def test_every_budget_gives_every_tuple_once(
    graph: JoinGraph, seed: int, state_bytes_max: int
) -> None:
    bindings = bindings_of(graph, 120, 12, seed)
    options = JoinOptions(state_bytes_max=state_bytes_max)
    rows = []
    with ProgressiveJoiner(graph, options) as joiner:
        for at, (stream, values, time) in enumerate(bindings, start=1):
            rows += joiner.push(stream, values, fragment_of(at), time)
            if at == 60:
                rows += joiner.settle()
        early = len(rows)
        rows += joiner.finish()
        statistics = joiner.statistics()
    assert all(part.fragment == fragment_of(part.arrival) for row in rows for part in row)
    arrivals = [tuple(part.arrival for part in row) for row in rows]
    expected = brute_force(graph, bindings)
    assert len(expected) > 100
    assert (len(arrivals), set(arrivals)) == (len(expected), expected)
    assert statistics.results + statistics.cleaned == len(expected)
    is_spilled = sum(stream.flushed for stream in statistics.streams) > 0
    assert is_spilled == (state_bytes_max < 1 << 30)
    assert early > 0
    assert (early < len(rows)) == is_spilled


def test_a_star_of_streams_gives_every_tuple_once() -> None:
    edges = [Equality(Side(0, 0), Side(stream, 0)) for stream in (1, 2, 3)]
    graph = JoinGraph([1] * 4, edges)
    bindings = bindings_of(graph, 100, 25, seed=3)
    with ProgressiveJoiner(graph) as joiner:
        rows = [
            tuple(part.arrival for part in row)
            for stream, values, time in bindings
            for row in joiner.push(stream, values, b"", time)
        ]
        assert joiner.statistics().probes > 100
    assert set(rows) == brute_force(graph, bindings) != set()
    assert len(rows) == len(set(rows))


def test_a_page_that_fails_stops_the_join_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    joiner = ProgressiveJoiner(PAIR, JoinOptions(state_bytes_max=4_000))

    def full(_: bytes) -> int:
        raise StateError("PJ0006", "full")

    monkeypatch.setattr(joiner._pages, "write", full)
    pushed = 0

    def fill() -> None:
        nonlocal pushed
        for pushed in range(1000):
            list(joiner.push(pushed % 2, [[b"x%d" % (pushed // 2)]], b"f" * 100))

    with pytest.raises(StateError, match="PJ0006"):
        fill()
    assert pushed < 100
    with pytest.raises(StateError, match="PJ0006"):
        list(joiner.finish())


def test_a_cross_product_is_refused() -> None:
    with pytest.raises(ValueError, match=r"stream 2 .*cross product.*add an equality"):
        ProgressiveJoiner(JoinGraph([1, 1, 1], PAIR.equalities))


def test_results_are_read_before_the_next_binding() -> None:
    joiner = ProgressiveJoiner(PAIR)
    list(joiner.push(0, [[b"x"]], b""))
    waiting = joiner.push(1, [[b"x"]], b"")
    with pytest.raises(RuntimeError, match="taken before"):
        joiner.push(0, [[b"x"]], b"")
    assert len(list(waiting)) == 1


def test_work_beyond_a_limit_is_an_error_of_its_binding() -> None:
    joiner = ProgressiveJoiner(PAIR, limits=Limits(steps_max=1_000))
    for at in range(10_000):
        list(joiner.push(0, [[b"%d" % (at % 2)]], b""))
    with pytest.raises(LimitError) as caught:
        list(joiner.push(1, [[b"1"]], b""))
    assert caught.value.limit == "steps_max"
    assert list(joiner.push(1, [[b"other"]], b"")) == []


def test_an_interruption_ends_the_search_of_a_binding() -> None:
    joiner = ProgressiveJoiner(PAIR)
    for _ in range(5_000):
        list(joiner.push(0, [[b"x"]], b""))
    joiner.interrupt()
    with pytest.raises(CancelledError):
        list(joiner.push(1, [[b"x"]], b""))
    assert len(list(joiner.push(1, [[b"x"]], b""))) == 5_000


def test_expired_bindings_leave_memory() -> None:
    joiner = ProgressiveJoiner(PAIR)
    for time in range(100):
        list(joiner.push(0, [[b"x"]], b"", time))
    joiner.expire(90)
    assert joiner.statistics().streams[0].resident == 10
    assert len(list(joiner.push(1, [[b"x"]], b"", 100))) == 10


@pytest.mark.parametrize(
    ("setting", "way_out"),
    [
        ({"strategy": "mmqjp"}, "papers/ of the repository"),
        ({"flush": "rpj"}, "papers/ of the repository"),
        ({"probe": "apriori"}, "papers/ of the repository"),
        ({"views_max": 3}, "papers/ of the repository"),
        ({"flush_fraction": 0.2}, "follows from state_bytes_max"),
        ({"partitions": 8}, "follows from state_bytes_max"),
        ({"page_bytes": 600}, "follows from state_bytes_max"),
        ({"hash_bits": 1}, "hashes of 64 bits"),
    ],
)
def test_settings_of_earlier_versions_are_refused_with_a_way_out(
    setting: dict[str, Any], way_out: str
) -> None:
    with pytest.raises(SettingError, match=f"is no longer a setting: .*{way_out}"):
        JoinOptions(**setting)


@pytest.mark.parametrize(
    "setting",
    [
        {"lateness": -1},
        {"lateness": timedelta(microseconds=-1)},
        {"lateness": float("nan")},
        {"lateness": float("inf")},
        {"lateness": 1e300},
        {"lateness": "5"},
        {"lateness": True},
        {"state_bytes_max": 0},
        {"state_bytes_max": -1},
        {"state_bytes_max": 1.5},
        {"state_bytes_max": "1 GB"},
        {"state_bytes_max": 1 << 64},
        {"state_bytes_max": None},
        {"batch_rows_max": 0},
        {"batch_rows_max": 2.0},
        {"batch_rows_max": True},
        {"batch_rows_max": 1 << 63},
    ],
)
def test_settings_are_checked_when_they_are_made(setting: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(setting))} is a"):
        JoinOptions(**setting)


def test_an_unknown_setting_is_an_error() -> None:
    with pytest.raises(TypeError, match="best"):
        JoinOptions(best=1)  # type: ignore[call-arg]
