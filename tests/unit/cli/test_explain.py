"""``penstock explain``: known before anything runs."""

import pytest

from penstock.cli import main

Capture = pytest.CaptureFixture[str]


def test_the_explanation_says_when_and_how_much(capsys: Capture) -> None:
    assert main(["explain", "//a[b]"]) == 0
    out = capsys.readouterr().out
    for title in ("normal form", "decided", "held", "memory", "endless streams"):
        assert f"\n{title}\n" in out


def test_namespaces_and_dialects_are_known(capsys: Capture) -> None:
    assert main(["explain", "-n", "p=urn:p", "//p:a"]) == 0
    assert "urn:p" in capsys.readouterr().out
    assert main(["explain", "--dialect", "xsq", "//a/count()"]) == 0
    assert "count" in capsys.readouterr().out


def test_expressions_are_explained_as_well(capsys: Capture) -> None:
    assert main(["explain", "//a[following::b]"]) == 0
    out = capsys.readouterr().out
    assert "nodes /descendant::a[following::b]" in out
    assert "no: candidates wait for the end of the document" in out


def test_what_is_no_query_is_refused(capsys: Capture) -> None:
    assert main(["explain", "//a[avg(b) > 1]"]) == 2
    assert "PQ0208" in capsys.readouterr().err
