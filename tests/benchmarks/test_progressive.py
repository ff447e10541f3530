"""The benchmark of progressive joins: its sets have the paper's sizes, its bounds can be missed."""

import random
from pathlib import Path

import pytest

from benchmarks.experiments import progressive, progressive_queries
from benchmarks.plots_progressive import draw
from benchmarks.workloads.progressive import SETS, authors, proportional, round_robin
from penstock.joins import JoinOptions


def test_the_sets_have_the_sizes_of_the_tables() -> None:
    sizes = {name: tuple(map(len, make(random.Random(1)))) for name, make in SETS.items()}
    assert sizes["x007"] == (9_000, 9_000)
    assert sizes["xmark"] == (13_044, 5_845)
    assert sizes["tpch"] == (15_000, 1_500)
    assert abs(sizes["swissprot-0.2"][1] - 11_420) < 400
    assert abs(sizes["swissprot-0.8"][1] - 45_377) < 500


def test_arrivals_keep_the_order_of_each_stream() -> None:
    streams = [[1, 2, 3, 4], [5, 6]]
    assert round_robin(streams) == [(0, 1), (1, 5), (0, 2), (1, 6), (0, 3), (0, 4)]
    assert proportional(streams) == [(0, 1), (1, 5), (0, 2), (0, 3), (1, 6), (0, 4)]


def test_a_run_counts_the_complete_result_whatever_the_memory() -> None:
    arrivals = round_robin([[at % 50 for at in range(400)], list(range(50))])
    whole = progressive.run(arrivals, JoinOptions(partitions=8))
    small = progressive.run(arrivals, JoinOptions(partitions=8, state_bytes_max=20_000))
    assert whole["complete"] == small["complete"] == 400
    assert whole["over_time"][-1] == 400 > small["over_time"][-1]


def test_bounds_that_are_missed_are_named() -> None:
    result = {
        "policies": [],
        "probing": [
            progressive.measure_probing("round-robin", [0.9, 0.9, 0.1], 1),
            {
                "arrival": "round-robin",
                "shares": [1.0, 1.0, 0.1],
                "rop_to_apriori": 1.3,
                "rop_to_sequential": 0.9,
                "probes": {"apriori": 7, "sequential": 10},
            },
        ],
    }
    lines = progressive.missed(result)
    assert ["auto" in line for line in lines] == [True, False, False]
    assert "1.30 of a priori" in lines[1]
    assert "0.90 of sequential" in lines[2]
    assert "a priori is 0.70" in lines[2]


def test_shares_of_authors_are_kept() -> None:
    reference, half, none = authors(random.Random(2), [0.5, 0.0])
    assert 0.4 < len(half) / len(set(reference)) < 0.6
    assert none == []


def test_whole_queries_are_compared_on_equal_results() -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("lxml")
    # Each of them asserts that all systems have the same rows.
    whole = progressive_queries.measure_whole("small", 60, 1)
    sharing = progressive_queries.measure_sharing(60, 1)
    first = progressive_queries.measure_first(400)
    assert (whole["rows"], sharing["rows"]) == (50, 50)
    assert 0 < first["share_read"] < 1
    whole["batches_to_duckdb"], sharing["many_to_one"], first["share_read"] = 0.3, {"rows": 4}, 0.5
    whole["tenth_to_all"] = 2.5
    lines = progressive_queries.missed_queries(
        {"whole": [whole], "sharing": sharing, "first": first}
    )
    assert ["tenth_to_all" in lines[0], "4.00 times" in lines[1], "50.00%" in lines[2]] == [
        True
    ] * 3
    assert len(lines) == 3


def test_results_over_time_and_probes_are_drawn(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    policies = [{"set": "xmark", "arrival": "round-robin", "over_time": {"auto": [1, 2, 3]}}]
    probes = {"rop": 1, "rop-written": 2, "apriori": 1, "sequential": 2}
    probing = [{"arrival": "round-robin", "shares": [0.5, 0.5], "probes": probes}]
    draw({"policies": policies, "probing": probing}, tmp_path / "plots.png")
    assert (tmp_path / "plots.png").stat().st_size > 1_000
