"""The workload of figure 1 is the paper's, and what is missed is named."""

from benchmarks.experiments import views
from benchmarks.workloads import news
from penstock import routing


def test_the_document_has_the_size_and_the_paths_of_the_paper() -> None:
    document = news.document()
    assert abs(len(document) - news.DOCUMENT_BYTES) < 2_000
    assert len(news.PATHS) == 22
    header = routing.read(routing.stamp(document, routing.Configuration(news.PATHS)))
    assert {entry.state for entry in header.entries} == {"one"}


def test_servers_have_one_to_five_queries_by_zipf() -> None:
    servers = news.servers(2_000)
    assert {len(queries) for queries in servers} == {1, 2, 3, 4, 5}
    counts = sorted(
        (sum(query.path == path for queries in servers for query in queries) for path in range(22)),
        reverse=True,
    )
    assert 1.6 < counts[0] / counts[1] < 2.5
    assert servers == news.servers(2_000)


def test_instances_are_the_same_for_the_same_seed() -> None:
    for seed in range(4):
        count, servers, size = news.random_instance(seed)
        assert (count, servers, size) == news.random_instance(seed)
        assert all(0 <= path < count for paths in servers for path in paths)
        assert 0 < size < count


def test_missed_bounds_are_named() -> None:
    full = {"together_seconds": 1.0, "alone_seconds": 1.0, "faster": {"ours": 2.0}}
    result = {
        "figure": {
            "parses": {"ours": 100.0, "lxml": 100.0},
            "sizes": [full] * 23,
            "answers_are_equal": False,
        },
        "stamping": {"ratio": 1.2, "header_share": 0.02},
        "selection": {"search": {"mean": 0.9}, "search_below_greedy": 0},
    }
    missed = views.missed(result)
    assert len(missed) == 6
    assert any("15 views" in line for line in missed)
    assert any("lxml: 100.0 times, not 500.0" in line for line in missed)
