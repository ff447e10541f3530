"""The benchmark of progressive joins: its sets have the paper's sizes, its bounds can be missed."""

import random
from collections import Counter
from pathlib import Path

import pytest

from benchmarks.experiments import progressive, progressive_queries
from benchmarks.page_progressive import page
from benchmarks.plots_progressive import draw
from benchmarks.workloads.progressive import (
    FIGURES,
    MENTIONS,
    MENTIONS_MAX,
    SETS,
    authors,
    dblp,
    proportional,
    real_sets,
    round_robin,
    shuffled,
    sigmod,
    sigmod_names,
    tpch,
)
from benchmarks.workloads.streams import MANY
from penstock.joins import JoinOptions


def test_the_sets_have_the_sizes_of_the_tables() -> None:
    sizes = {name: tuple(map(len, make(random.Random(1)))) for name, make in SETS.items()}
    assert [sizes[f"x007-{number}"] for number in (3, 6, 9)] == [(n, n) for n in (3000, 6000, 9000)]
    table_3 = {0.2: (4350, 1950), 0.6: (13044, 5845), 1.0: (21750, 9750), 2.0: (43500, 19500)}
    for factor, (items, closed) in table_3.items():
        found = sizes[f"xmark-{factor}"]
        assert abs(found[0] - items) < 30
        assert abs(found[1] - closed) < 30
    assert sizes["tpch"] == (15_000, 1_500)
    table_5 = {0.2: 11_420, 0.4: 22_612, 0.6: 34_180, 0.8: 45_377}
    for share, count in table_5.items():
        assert abs(sizes[f"swissprot-{share}"][1] - count) < 500
    assert {name for names in FIGURES.values() for name in names} == set(SETS)


def test_sigmod_record_names_authors_as_often_as_the_real_file() -> None:
    named = Counter(sigmod(random.Random(1)))
    assert Counter(named.values()) == MENTIONS
    assert (len(named), named.total()) == (2_494, 5_043)


def test_a_bibliography_by_venue_has_the_authors_of_the_small_one_together() -> None:
    def spread(large: list[int], small: list[int]) -> float:
        places = [at for at, author in enumerate(large) if author in set(small)]
        middle = sum(places) / len(places)
        return sum(abs(place - middle) for place in places) / len(places) / len(large)

    sizes = {"mentions": 4_000, "others": 2_000, "small": list(range(200)) * 2}
    mixed = spread(*dblp(random.Random(1), **sizes))
    by_venue = spread(*dblp(random.Random(1), is_by_venue=True, **sizes))
    assert by_venue < 0.8 * mixed


def test_real_files_are_used_where_they_are(tmp_path: Path) -> None:
    assert sigmod_names(tmp_path) == []
    assert real_sets(tmp_path) == {}
    (tmp_path / "sigmod").mkdir()
    authors = "<author>A  B</author><author>C</author><author>A\nB</author>"
    (tmp_path / "sigmod" / "SigmodRecord.xml").write_text(f"<r>{authors}</r>")
    assert sigmod_names(tmp_path) == [0, 1, 0]
    assert set(real_sets(tmp_path)) == {"dblp-real-sigmod"}


def test_arrivals_keep_the_order_of_each_stream() -> None:
    streams = [[1, 2, 3, 4], [5, 6]]
    assert round_robin(streams) == [(0, 1), (1, 5), (0, 2), (1, 6), (0, 3), (0, 4)]
    assert proportional(streams) == [(0, 1), (1, 5), (0, 2), (0, 3), (1, 6), (0, 4)]


def test_shuffled_arrivals_take_turns_too() -> None:
    arrivals = shuffled([list(range(50)), [7, 8, 9]])
    assert [stream for stream, _ in arrivals[:7]] == [0, 1, 0, 1, 0, 1, 0]
    assert sorted(arrivals)[:50] == [(0, value) for value in range(50)]
    assert arrivals != sorted(arrivals)


def test_a_run_counts_the_complete_result_whatever_the_memory() -> None:
    arrivals = round_robin([[at % 50 for at in range(400)], list(range(50))])
    whole = progressive.run(arrivals, JoinOptions())
    small = progressive.run(arrivals, JoinOptions(state_bytes_max=20_000))
    assert whole["complete"] == small["complete"] == 400
    assert whole["over_time"][-1] == 400 > small["over_time"][-1]


def test_bounds_that_are_missed_are_named() -> None:
    bad = {
        "arrival": "round-robin",
        "shares": [1.0, 1.0, 0.1],
        "rop_to_apriori": 1.3,
        "rop_to_sequential": 0.9,
        "apriori_to_sequential": 0.7,
    }
    result = {
        "policies": [],
        "memory": [{"set": "tpch", "tenth_to_all": 2.5}],
        "probing": [
            progressive.measure_probing("round-robin", [0.9, 0.9, 0.1], 1),
            bad | {"reading": "all entries"},
            bad | {"reading": "each once"},
        ],
    }
    lines = progressive.missed(result)
    assert len(lines) == 5
    assert "auto" in lines[0]
    assert "2.50 times" in lines[1]
    assert "1.30 of a priori" in lines[2]
    assert "0.90 of sequential" in lines[3]
    assert "a priori is 0.70" in lines[3]
    assert "each once" in lines[4]


def test_an_included_author_has_all_entries_up_to_a_bound_or_one() -> None:
    reference, half, none = authors(random.Random(2), [0.5, 0.0])
    assert 0.4 < len(set(half)) / len(set(reference)) < 0.6
    assert none == []
    entries = Counter(reference)
    assert max(entries.values()) == MENTIONS_MAX
    assert all(entries[author] == count for author, count in Counter(half).items())
    _, once = authors(random.Random(2), [0.5], is_once=True)
    assert max(Counter(once).values()) == 1
    names, all_of_them = authors(random.Random(2), [1.0], names=[4, 5, 4])
    assert sorted(names) == sorted(all_of_them) == [4, 4, 5]


def test_streams_without_entries_are_streams() -> None:
    measured = progressive.measure_probing("round-robin", [0.0, 0.0], 1)
    assert measured["results"] == 0
    assert measured["rop_to_sequential"] == 1


def test_whole_queries_are_compared_on_equal_results() -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("lxml")
    # Each of them asserts that all systems have the same rows.
    whole = progressive_queries.measure_whole("small", 60, 1)
    [sharing, *_] = [progressive_queries.measure_sharing(name, 60, 1) for name in MANY]
    first = progressive_queries.measure_first(400)
    assert (whole["rows"], sharing["rows"]) == (50, 50)
    assert 0 < first["share_read"] < 1
    whole["batches_to_duckdb"], sharing["many_to_one"], first["share_read"] = 0.3, {"rows": 4}, 0.5
    whole["tenth_to_all"] = 2.5
    lines = progressive_queries.missed_queries(
        {"whole": [whole], "sharing": [sharing], "first": first}
    )
    assert ["tenth_to_all" in lines[0], "4.00 times" in lines[1], "50.00%" in lines[2]] == [
        True
    ] * 3
    assert len(lines) == 3


def test_results_over_time_and_probes_are_drawn_and_written_beside_the_claims(
    tmp_path: Path,
) -> None:
    pytest.importorskip("matplotlib")
    policies = [
        progressive.measure_policies(
            "xmark-0.6", lambda chance: tpch(chance, 600, 60), "5a", "round-robin", 1
        )
    ]
    result = {
        "command": "python -m benchmarks progressive",
        "machine": {"processor": "p", "cores": 2, "python": "3", "revision": "r", "load": 0.5},
        "missed": [],
        "policies": policies,
        "memory": [{"set": "tpch", "tenth_to_all": 1.5, "seconds": {"all": 2, "a tenth": 3}}],
        "probing": [progressive.measure_probing("proportional", [0.5, 0.5], 1)],
    }
    text = page(result)
    assert "## Figure 5a" in text
    assert "far ahead of RPJ and random" in text
    assert "| 1.50" in text
    assert "all entries" in text
    draw(result, tmp_path / "plots.png")
    assert (tmp_path / "plots.png").stat().st_size > 1_000
