"""Two revisions are compared by what the same input costs them, in pairs of runs."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.experiments.revisions import command, setups
from benchmarks.experiments.revisions.measure import Checkout, judge, measure
from benchmarks.experiments.revisions.page import page
from benchmarks.experiments.revisions.setups import SMOKE_SHARE, Scale, Setup, Workload
from tests.conftest import ROOT


def run(seconds: float, rows: int | None = 3) -> dict[str, Any]:
    return {"core_seconds": seconds, "seconds": seconds, "documents": 10, "rows": rows}


def entry(*pairs: tuple[dict[str, Any], dict[str, Any]], ratio_max: float = 1.05) -> dict[str, Any]:
    prepared = {label: {"rows": 7, "core_seconds": 1.0} for label in ("old", "new")}
    return {
        "name": "some",
        "ratio_max": ratio_max,
        "prepared": prepared,
        "pairs": [{"old": old, "new": new} for old, new in pairs],
    }


def result(*entries: dict[str, Any], is_built: bool = True) -> dict[str, Any]:
    checkout = {"folder": "here", "revision": "abc", "is_built": is_built}
    return {
        "command": "c",
        "machine": {"processor": "P", "cores": 2, "python": "3", "load": 0.0},
        "checkouts": {"old": checkout, "new": checkout},
        "pairs": 3,
        "workloads": list(entries),
        "seconds": 60.0,
    }


def test_the_ratio_is_the_median_over_pairs() -> None:
    times = ((1.0, 1.0), (2.0, 2.2), (1.0, 9.0), (1.0, 1.04), (1.0, 0.9))
    verdict = judge(entry(*((run(old), run(new)) for old, new in times)))
    assert verdict is not None
    assert (verdict.ratio, verdict.low, verdict.high) == pytest.approx((1.04, 1.0, 1.1))
    assert verdict.is_kept


@pytest.mark.parametrize(("ratio_max", "is_kept"), [(1.19, False), (1.21, True)])
def test_a_ratio_is_held_against_its_bound(ratio_max: float, is_kept: bool) -> None:
    seen = entry((run(1.0), run(1.2)), ratio_max=ratio_max)
    verdict = judge(seen)
    assert verdict is not None
    assert verdict.is_kept is is_kept
    assert ("| kept " if is_kept else "| MISSED ") in page(result(seen))


def test_different_rows_are_noticed_however_fast_they_come() -> None:
    later = entry((run(1.0), run(0.1)), (run(1.0, rows=3), run(0.1, rows=2)))
    before = entry((run(1.0, rows=None), run(0.1, rows=None)))
    before["prepared"]["new"]["rows"] = 6
    for seen in (later, before):
        verdict = judge(seen)
        assert verdict is not None
        assert not verdict.is_kept
        assert "DIFFERENT ROWS" in page(result(seen))


def test_what_failed_is_named_and_not_kept() -> None:
    broken = entry() | {"error": "new: ValueError: no"}
    assert judge(broken) is None
    half = entry((run(1.0), run(1.0))) | {"error": "new: ValueError: no"}
    verdict = judge(half)
    assert verdict is not None
    assert not verdict.is_kept
    text = page(result(broken))
    assert "FAILED" in text
    assert "- some: new: ValueError: no" in text


def test_a_build_that_is_older_than_its_sources_is_named() -> None:
    assert "STALE" in page(result(entry((run(1.0), run(1.0))), is_built=False))
    assert "STALE" not in page(result(entry((run(1.0), run(1.0)))))


def compare(tmp_path: Path, *names: str) -> dict[str, Any]:
    """Return what a smoke run sees of this checkout beside itself."""
    path = tmp_path / "revisions.json"
    words = ["--old", str(ROOT), "--smoke", "--pairs", "2", "--json", str(path)]
    command.main([*words, "--only", *names])
    seen: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return seen


def test_a_revision_gives_the_rows_that_it_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "OUT", tmp_path)
    seen = compare(
        tmp_path, "single-Q6", "many-paths-filter", "batches-paths-f", "joins-8", "mixed"
    )
    names = ["single-Q6", "many-paths-filter", "batches-paths-filter"]
    assert [one["name"] for one in seen["workloads"]] == [
        *names,
        "joins-8",
        "mixed-run",
        "mixed-batches",
    ]
    for one in seen["workloads"]:
        verdict = judge(one)
        assert verdict is not None
        assert len(one["pairs"]) == 2
        assert not verdict.rows_differ
        counts = [one["prepared"]["new"]["rows"], one["pairs"][0]["new"]["rows"]]
        assert max(count or 0 for count in counts) > 0, one["name"]


@pytest.mark.spark
def test_a_revision_runs_on_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "OUT", tmp_path)
    (seen,) = compare(tmp_path, "spark")["workloads"]
    verdict = judge(seen)
    assert verdict is not None
    assert not verdict.rows_differ
    assert seen["pairs"][0]["new"]["core_seconds"] > 0


def failing(tmp_path: Path, text: str, checkout: Checkout) -> str:
    """Return what is said of a setup whose only subscription is a text."""
    scale = Scale(tmp_path, SMOKE_SHARE)

    def prepare(scale: Scale) -> dict[str, Any]:
        return {
            "subscriptions": setups.write_lines(scale, "some", [{"query": text}]),
            "documents": setups.write_pickle(scale, "some", [b"<a/>"]),
            "calls": ["matches"],
        }

    asked = Workload("some", lambda _scale: {"call": "matches", "documents": -1})
    setup = Setup("some", "many", prepare, (asked,))
    (seen,) = measure(setup, {"some"}, [checkout, Checkout("new", ROOT)], 2, scale)
    assert seen["pairs"] == []
    return str(seen["error"])


def test_what_a_revision_raises_does_not_end_the_comparison(tmp_path: Path) -> None:
    here = Checkout("old", ROOT)
    assert "old: ValueError: line 1: PQ" in failing(tmp_path, "//a[", here)
    assert "old: ValueError: Stop" in failing(tmp_path, "//a", here)


def test_the_package_of_another_checkout_is_noticed(tmp_path: Path) -> None:
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    python = tmp_path / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec {ROOT}/.venv/bin/python "$@"\n')
    python.chmod(0o755)
    assert "old: its package is" in failing(tmp_path, "//a", Checkout("old", tmp_path))


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--old", str(ROOT), "--only", "html"], "there is no workload html"),
        (["--old", str(ROOT / "docs")], "has no .venv"),
        (["--old", str(ROOT), "--pairs", "0"], "at least one pair"),
    ],
)
def test_words_that_mean_nothing_are_refused(
    words: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        command.parse_arguments(words)
    assert reason in capsys.readouterr().err
