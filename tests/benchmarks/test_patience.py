"""A peer that is missing, dies, hangs or is wrong is named, and the run goes on to its page."""

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks import patience, peers, plots
from benchmarks.experiments import joins, single
from benchmarks.experiments.many import workers
from benchmarks.patience import Patience, attempt
from benchmarks.report import page
from tests.benchmarks import fake_peers

SOON = 3.0
"""Long enough for nothing but to start."""


def test_an_answer_comes_back() -> None:
    assert attempt(fake_peers.answer, 3, seconds_max=600) == {"count": 3}


@pytest.mark.parametrize("peer", [fake_peers.wait_for_ever, fake_peers.start_something_and_wait])
def test_a_peer_that_never_answers_is_too_slow(peer: Any) -> None:
    assert attempt(peer, seconds_max=SOON) == {"error": "no reply within 3 s"}


@pytest.mark.parametrize(
    ("peer", "reason"),
    [
        (fake_peers.die, "it ended with code 7"),
        (fake_peers.crash, "it ended with code -9"),
        (fake_peers.miss, "ModuleNotFoundError: No module named 'a_package_that_is_not_there'"),
    ],
)
def test_a_peer_that_ends_is_named_with_the_reason(peer: Any, reason: str) -> None:
    assert attempt(peer, seconds_max=600) == {"error": reason}


def test_what_a_peer_leaves_behind_keeps_nobody_waiting() -> None:
    # The process that is left keeps the pipes open, so the limit must end it.
    assert "error" in attempt(fake_peers.leave_something_behind, seconds_max=SOON)


def test_a_question_that_was_not_answered_is_not_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []

    def ask(module: str, request: Any, seconds_max: float) -> dict[str, Any]:
        asked.append(request)
        return {"error": "no reply within 5 s"} if request == "slow" else {"count": 1}

    monkeypatch.setattr(patience, "ask", ask)
    waiting = Patience(5)
    replies = [waiting.ask(("peer", one), "module", one) for one in ("slow", "fast") * 2]  # type: ignore[arg-type]
    assert [("error" in reply) for reply in replies] == [True, False, True, False]
    assert asked == ["slow", "fast", "fast"]


def test_a_worker_that_hangs_is_ended_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MODULE", "tests.benchmarks.hanging_worker")
    monkeypatch.setattr(workers, "PATIENCE_SECONDS", 0.5)
    with workers.WorkerProcess("any") as worker:
        assert worker.ask("subscribe") == {"error": "no reply within 0.5 s"}


REPLIES = {
    "lxml_tree": {"error": "no reply within 60 s"},
    "penstock_batches": {"count": 3, "digest": "a"},
    "penstock_kernel": {"count": 3, "digest": "a"},
    "pugixml_tree": {"count": 2, "digest": "b"},
}


def draw_or_touch(monkeypatch: pytest.MonkeyPatch, module: Any) -> None:
    """Draw pictures if that is possible here, and else make empty ones."""
    if importlib.util.find_spec("matplotlib") is None:
        monkeypatch.setattr(module, "draw", lambda _, path: path.touch())


def test_without_the_reference_most_systems_decide() -> None:
    assert single.expected_answer(REPLIES) == (3, "a")
    known = REPLIES | {"lxml_tree": {"count": 2, "digest": "b"}}
    assert single.expected_answer(known) == (2, "b")
    assert single.expected_answer({"lxml_tree": {"error": "it ended"}}) is None


def test_a_run_in_which_peers_fail_ends_with_table_json_and_plot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_or_touch(monkeypatch, plots)
    seconds = {"seconds": [0.5, 0.25]}

    def ask(module: str, request: dict[str, Any], seconds_max: float) -> dict[str, Any]:
        reply = REPLIES.get(request.get("peer", ""), {"error": "it ended with code -11"})
        if "error" in reply or request.get("task") == "verify":
            return dict(reply)
        return {"before_bytes": 1, "peak_bytes": 2, **seconds}

    absent = dict.fromkeys(("saxonche_tree", "simdxml_batch"), "saxonche cannot be imported")
    load = peers.load

    def load_or_not(name: str) -> Any:
        module = load(name)
        return SimpleNamespace(**{**vars(module), "missing": lambda: absent.get(name)})

    monkeypatch.setattr(patience, "ask", ask)
    monkeypatch.setattr(peers, "load", load_or_not)
    monkeypatch.setattr(command, "OUT", tmp_path)
    path = tmp_path / "single.json"
    assert command.main(["single", "--small", "--repeat", "1", "--json", str(path)]) == 0
    text = capsys.readouterr().out
    assert path.with_suffix(".md").read_text() == text.removesuffix("\n")
    assert "saxonche_tree is missing: saxonche cannot be imported" in text
    assert "on Q5: no reply within 60 s." in text
    assert "| too slow |" in " ".join(text.split())
    assert "pugixml on Q1: 2 results; " in text
    assert json.loads(path.read_text())["single"]["missing"] == absent
    assert page(json.loads(path.read_text())) == path.with_suffix(".md").read_text()
    assert path.with_suffix(".png").exists()


def test_joins_without_their_peers_still_have_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    draw_or_touch(monkeypatch, joins)
    monkeypatch.setattr(joins, "attempt", lambda *_, **__: {"error": "no module named duckdb"})
    point = {
        "point": 10,
        "queries": 10,
        "seconds": dict.fromkeys(joins.STRATEGIES, 0.5),
        "results": 1,
        "shapes": 1,
    }
    monkeypatch.setattr(joins, "figure", lambda *_: [point])
    monkeypatch.setattr(joins.workload, "two_levels", lambda *_: ["q"])
    monkeypatch.setattr(joins.workload, "three_levels", lambda *_: ["q"])
    monkeypatch.setattr(joins, "BESIDE_ITEMS", 20)
    items = joins.workload.items
    monkeypatch.setattr(joins.workload, "items", lambda _: items(20))
    queries = joins.workload.item_queries
    monkeypatch.setattr(joins.workload, "item_queries", lambda _: queries(5))
    path = tmp_path / "joins.json"
    joins.main(["--small", "--repeat", "1", "--json", str(path)])
    text = capsys.readouterr().out
    for name in ("one SQL query each on DuckDB", "lxml + DuckDB", "Spark"):
        assert f"- {name}: no module named duckdb" in text
    assert "## Figure 16" in text
    assert path.with_suffix(".png").exists()


def test_an_answer_of_duckdb_that_differs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    items = joins.workload.items(20)
    wrong = {"extraction": 1.0, "sql": 1.0, "results": -1}
    monkeypatch.setattr(joins, "attempt", lambda *_, **__: wrong)
    monkeypatch.setattr(joins, "BESIDE_QUERIES", 5)
    assert "it finds -1, we find" in joins.beside_duckdb(items)["error"]
