"""The benchmark of many subscriptions says what was measured, and who disagreed."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments.many import command, durable, measure, studies
from benchmarks.experiments.many.measure import Effort, Task
from benchmarks.experiments.many.page import page
from benchmarks.experiments.many.promises import check
from benchmarks.experiments.many.workers import WorkerProcess
from benchmarks.workloads.sets import Workload, write_queries

LITTLE = Effort(rounds=2, seconds_max=0.05, documents=4, checked=2)


def entry(*speeds: float) -> dict[str, Any]:
    """Return what a system shows that read one document in each round."""
    rounds = [
        {
            "documents": 1,
            "cold_seconds": 1 / speed,
            "warm_seconds": 0.5 / speed,
            "resident_bytes": 7_000_000,
        }
        for speed in speeds
    ]
    return {"before_bytes": 2_000_000, "load_seconds": 1.0, "rounds": rounds}


def task(label: str, mode: str, count: int, **systems: float) -> dict[str, Any]:
    return {
        "label": label,
        "kind": label.split("-")[1],
        "mode": mode,
        "count": count,
        "systems": {name: entry(speed, speed / 2) for name, speed in systems.items()},
        "missing": {},
        "compared": 3,
        "agrees": True,
        "matches": 1.0,
        "results": 1.0,
    }


def result(*tasks: dict[str, Any], **more: Any) -> dict[str, Any]:
    machine = {"processor": "P", "cores": 2, "python": "3", "revision": "r", "load": 0.0}
    effort = {"rounds": 2}
    return {"command": "c", "machine": machine, "effort": effort, "tasks": list(tasks), **more}


def verdicts(text: str) -> list[str]:
    return re.findall(r"\| (kept|MISSED|other size) +\|", text)


def test_the_best_round_counts_and_warm_is_the_second_pass() -> None:
    seen = entry(10, 40, 20)
    assert measure.speed(seen) == pytest.approx(40)
    assert measure.speed(seen, "warm") == pytest.approx(80)
    assert measure.grown_bytes(seen) == 5_000_000


def test_a_system_that_failed_has_no_figures() -> None:
    assert measure.speed({"error": "out of memory"}) is None
    assert measure.speed({"rounds": [{"error": "killed"}]}) is None
    assert measure.grown_bytes({"error": "out of memory"}) is None


def test_promises_are_held_against_their_bounds_at_their_size() -> None:
    label = "nitf-twig-unselective"
    for ours, verdict in ((199.0, "MISSED"), (201.0, "kept")):
        seen = result(task(label, "filter", 100_000, penstock_many=ours, lxml_loop=1.0))
        assert [one.value for one in check(seen)] == [pytest.approx(ours)]
        assert verdicts(page(seen)) == [verdict]
    smaller = result(task(label, "filter", 1_000, penstock_many=500.0, lxml_loop=1.0))
    assert verdicts(page(smaller)) == ["other size"]


def test_the_fall_is_taken_from_a_hundred_to_the_most() -> None:
    label = "nitf-template-selective"
    speeds = {1: 900.0, 100: 800.0, 10_000: 500.0, 1_000_000: 160.0}
    tasks = [task(label, "filter", n, penstock_many=speed) for n, speed in speeds.items()]
    (promise,) = check(result(*tasks))
    assert promise.value == pytest.approx(5.0)
    assert not promise.is_kept
    assert verdicts(page(result(*tasks))) == ["MISSED"]


def test_an_addition_pays_for_what_it_does_to_the_next_document() -> None:
    lazy = {"add_seconds": 0.0001, "alone_seconds": 0.001, "after_seconds": 0.5}
    assert durable.addition_seconds(lazy) == pytest.approx(0.4991)
    assert durable.addition_seconds({"error": "killed"}) is None


def test_the_registry_is_held_against_its_bounds() -> None:
    sizes = {"resident_bytes": 2_000_000_000}
    templates = {
        "count": 1_000_000,
        "compile lines": [{"seconds": 10.0}],
        "load": [{"seconds": 150.0}, {"seconds": 120.0}],
        "reopen": [{"seconds": 1.0, **sizes}],
        "add one": {
            "additions": 1000,
            "add_seconds": 0.0005,
            "alone_seconds": 0.001,
            "after_seconds": 0.001,
        },
    }
    starts = {"count": 100_000, "starts": [{"first_seconds": 6.0, "warm_seconds": 1.0}]}
    seen = result(durable={"templates": templates, "starts": {"filter": starts}})
    kept = {one.what: one.is_kept for one in check(seen)}
    assert list(kept.values()) == [True, True, False, True, False]
    assert verdicts(page(seen)) == ["kept", "kept", "MISSED", "kept", "MISSED"]


def test_systems_that_disagree_are_told() -> None:
    seen = task("nitf-path-selective", "filter", 10, penstock_many=2.0, lxml_loop=1.0)
    assert "list the same matches" in page(result(seen))
    assert "list DIFFERENT matches" in page(result(seen | {"agrees": False}))


def test_a_small_run_compares_and_times_all_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(measure, "OUT", tmp_path)
    for mode in ("filter", "query"):
        one = measure.task_of(Workload("nitf", "twig", "unselective"), mode, 30, LITTLE)
        seen = measure.run(one, LITTLE, ("penstock_many", "lxml_loop", "yfilter_nfa"))
        assert list(seen["systems"]) == ["penstock_many", "lxml_loop"]  # twigs are no paths
        assert seen["agrees"]
        assert seen["compared"] == 2
        assert seen["matches"] > 0
        assert all(measure.speed(found) for found in seen["systems"].values())


def test_other_matches_are_noticed(tmp_path: Path) -> None:
    files = []
    for name, text in (("one", b"<a><b/></a>"), ("other", b"<a/>")):
        files.append(tmp_path / f"{name}.xml")
        files[-1].write_bytes(text)
    queries = write_queries(tmp_path, "some", iter(["//a", "//b"]), 2)
    digests = []
    for file in files:
        with WorkerProcess("lxml_loop") as worker:
            worker.ask(
                "subscribe",
                peer="lxml_loop",
                mode="filter",
                count=2,
                queries=str(queries),
                files=[str(file)],
            )
            digests.append(worker.ask("answers", count=1)["digests"])
    assert digests[0] != digests[1]


def test_what_a_system_cannot_do_is_told_and_does_not_end_the_run(tmp_path: Path) -> None:
    queries = write_queries(tmp_path, "bad", iter(["//a["]), 1)
    file = tmp_path / "a.xml"
    file.write_bytes(b"<a/>")
    one = Task("nitf-path-bad", "path", "filter", 1, queries, {"files": [str(file)]})
    seen = measure.run(one, LITTLE, ("penstock_many", "lxml_loop"))
    text = page(result(seen))
    assert "PQ" in seen["systems"]["penstock_many"]["error"]
    assert "Penstock: " in text
    assert "lxml loop: " in text


def test_every_figure_of_the_thesis_is_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studies, "OUT", tmp_path)
    named = [
        figure for study in studies.studies(studies.SMALL) for figure in study.figures.split(", ")
    ]
    assert named == [f"8.{number}" for number in range(4, 17)]


def test_words_that_mean_nothing_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for words, reason in (
        (["--sets", "html-path"], "there is no set html-path"),
        (["--n", "0"], "at least one subscription"),
    ):
        with pytest.raises(SystemExit):
            command.parse_arguments(words)
        assert reason in capsys.readouterr().err
