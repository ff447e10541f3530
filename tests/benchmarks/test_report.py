"""Ratios and tables say what was measured."""

import pytest

from benchmarks.report import differences, table
from benchmarks.statistics import best, collect, geometric_mean, speed_ratio, typical


def entry(system: str, query: str, *seconds: float) -> dict[str, object]:
    return {"system": system, "query": query, "seconds": list(seconds)}


def test_best_is_the_fastest_run_and_typical_the_median_of_rounds() -> None:
    rounds = [[3.0, 2.0], [9.0, 8.0], [4.0, 5.0]]
    assert best(rounds) == 2.0
    assert typical(rounds) == 4.0


def test_geometric_mean_of_a_ratio_and_its_inverse_is_one() -> None:
    assert geometric_mean([4.0, 0.25]) == pytest.approx(1.0)


def test_ratio_above_one_means_ours_is_faster() -> None:
    times = collect([entry("ours", "Q1", 1.0), entry("theirs", "Q1", 3.0)])
    ratio = speed_ratio(times, "ours", "theirs", ["Q1"])
    assert ratio == {"best": pytest.approx(3.0), "median": pytest.approx(3.0)}


def test_a_parser_stands_against_every_query() -> None:
    times = collect([entry("ours", "Q1", 2.0), entry("ours", "Q2", 8.0), entry("sax", "parse", 4)])
    ratio = speed_ratio(times, "ours", "sax", ["Q1", "Q2"])
    assert ratio == {"best": pytest.approx(1.0), "median": pytest.approx(1.0)}


def test_a_system_that_failed_has_no_ratio() -> None:
    times = collect([entry("ours", "Q1", 1.0), {"system": "x", "query": "Q1", "error": "crashed"}])
    assert speed_ratio(times, "ours", "x", ["Q1"]) is None


def test_a_wrong_answer_is_named() -> None:
    answers = {
        "Q1": {
            "lxml_tree": {"count": 3, "agrees": True},
            "other": {"count": 2, "agrees": False},
        }
    }
    names = {"lxml_tree": {"name": "lxml"}, "other": {"name": "Other"}}
    queries = {"Q1": {"text": "//a", "compare": "nodes"}}
    assert differences(answers, names, queries) == ["Other on Q1: 2 results; lxml has 3."]


def test_columns_line_up() -> None:
    assert table(["a", "b"], [["long", "x"]]) == [
        "| a    | b |",
        "| ---- | - |",
        "| long | x |",
    ]
