"""The benchmark of loading: its sets are what they say, and it names what is missed."""

import pytest

from benchmarks.experiments import loading


def test_random_paths_are_distinct_and_half_wildcards() -> None:
    texts = list(loading.random_paths(500))
    assert len(set(texts)) == 500
    steps = [step for text in texts for step in text.replace("//", "/").split("/")[1:]]
    assert 0.45 < steps.count("*") / len(steps) < 0.55
    assert {text.replace("//", "/").count("/") for text in texts} == {3, 4, 5, 6, 7}


def test_a_set_is_measured_beside_lxml() -> None:
    found = loading.measure(list(loading.random_paths(loading.ADDITIONS + 50)))
    assert found["queries"] == 50
    assert min(found[name] for name in ("load", "lxml", "ratio", "add")) > 0


def test_what_is_missed_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = {"queries": 1, "load": 9.0, "lxml": 1.0, "ratio": 9.0, "add": 0.01}
    monkeypatch.setattr(loading, "measure", lambda texts: measured)
    monkeypatch.setattr(loading, "SETS", {"random paths": (loading.random_paths, 10)})
    assert loading.main([]) == 1
    text = capsys.readouterr().out
    assert "MISSED: random paths take 9.0 times the time of lxml" in text
    assert "MISSED: one more of random paths takes 10.00 ms" in text
