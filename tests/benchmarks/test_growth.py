"""The growth benchmark judges what was measured, and names what it could not measure."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks import growth_child
from benchmarks.experiments import growth
from penstock_testing.generate.growth import GrowthCase


def entry(
    work: tuple[int, int], peak: tuple[int, int], seconds: float = 0.1, lxml: float | None = 0.2
) -> dict[str, Any]:
    """Return what a run would have measured at 100 and at 1,000 records."""
    ours = [
        {"work": w, "kept_bytes": p, "peak_bytes": p, "rows": 1, "seconds": s}
        for w, p, s in zip(work, peak, (seconds / 10, seconds), strict=True)
    ]
    peers = {"lxml_tree": {"error": "no reply"} if lxml is None else {"seconds": [lxml]}}
    return {"query": "//a", "shape": "flat", "ours": ours, "peers": peers}


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    ("measured", "missed"),
    [
        (entry((500, 6_000), (MEGABYTE, 14 * MEGABYTE)), []),
        (entry((500, 6_100), (MEGABYTE, MEGABYTE)), ["work 12.2×"]),
        (entry((500, 600), (MEGABYTE, 15 * MEGABYTE)), ["kept 15.0×", "memory 15.0×"]),
        (entry((0, 1_200), (0, 0)), []),
        (entry((500, 600), (0, 0), seconds=0.99, lxml=0.01), []),
        (entry((500, 600), (0, 0), seconds=1.5, lxml=0.51), []),
        (entry((500, 600), (0, 0), seconds=1.5, lxml=0.49), ["1.5 s"]),
        (entry((500, 600), (0, 0), seconds=1.5, lxml=None), ["1.5 s"]),
    ],
)
def test_what_is_missed_is_named(measured: dict[str, Any], missed: list[str]) -> None:
    assert growth.failures(measured, 100) == missed


def test_a_run_without_a_reply_is_a_failure() -> None:
    broken = entry((1, 1), (1, 1))
    broken["ours"][1] = {"error": "no reply within 120 s"}
    assert growth.failures(broken, 100) == ["no reply within 120 s"]


def window(work: float, kept: int = 0, peak: int = MEGABYTE) -> dict[str, float]:
    return {"work": work, "kept_bytes": kept, "peak_bytes": peak, "microseconds": 1.0}


@pytest.mark.parametrize(
    ("windows", "is_flat"),
    [
        ([window(1), window(5), window(5.4)], True),
        ([window(1), window(5), window(5.6)], False),
        ([window(1), window(5, 100_000), window(5, 120_000)], False),
        ([window(1), window(5), window(5, 0, 3 * MEGABYTE)], False),
    ],
)
def test_a_stream_is_flat_if_its_last_records_cost_no_more(
    windows: list[dict[str, float]], is_flat: bool
) -> None:
    assert growth.is_flat({"query": "//a", "windows": windows}) is is_flat


def test_a_stream_that_gave_no_reply_is_not_flat() -> None:
    assert not growth.is_flat({"query": "//a", "error": "no reply"})


def test_counts_are_asked_for_their_nodes_on_endless_streams() -> None:
    cases = [GrowthCase("count(//a[1])", "flat"), GrowthCase("//a[1]", "deep")]
    assert growth.endless_queries(cases) == ["//a[1]"]


def test_a_process_measures_what_it_is_asked() -> None:
    asked = {"task": "growth", "query": "//a[2]", "shape": "flat", "n": 50}
    reply = growth_child.measure(asked)
    assert (reply["rows"], reply["work"] > 0) == (1, True)
    stream = growth_child.measure_endless({"query": "//a/b", "n": 200})
    assert len(stream["windows"]) == growth_child.WINDOWS


def test_the_page_names_failures_and_what_is_missing() -> None:
    result: dict[str, Any] = {
        "command": "python -m benchmarks growth",
        "machine": {
            "processor": "p",
            "cores": 2,
            "load": 0.0,
            "python": "3",
            "revision": "r",
        },
        "n": 100,
        "records": 1000,
        "peer_seconds": 5.0,
        "missing": {"pugixml_tree": "pugixml cannot be imported"},
        "timed": {"lxml_tree": {"name": "lxml"}},
        "cases": [entry((500, 60_000), (0, 0), lxml=None)],
        "endless": [{"query": "//a", "windows": [window(1), window(5), window(9)]}],
    }
    text = growth.page(result)
    assert "pugixml_tree is missing: pugixml cannot be imported." in text
    assert "- `//a` (flat): work 120.0×" in text
    assert "1 are not flat" in text
