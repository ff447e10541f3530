"""``penstock run``: what Spark complains of, in one line."""

from pathlib import Path

import pytest

import penstock
from penstock.cli.run import _reason, silent_lines
from penstock.spark.pipelines import Outcome, load

WORKER = """An exception was thrown from the Python worker. Please see the stack trace below.
Traceback (most recent call last):
  File "worker.py", line 10, in main
    process()
penstock.errors.RegistryError: PR0005: the registry is gone

\tat org.apache.spark.Something
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[SOMETHING] went wrong.\n\tat java", "[SOMETHING] went wrong."),
        (WORKER, "penstock.errors.RegistryError: PR0005: the registry is gone"),
        ("", "RuntimeError"),
    ],
)
def test_the_line_that_says_what_happened_is_shown(text: str, expected: str) -> None:
    assert _reason(RuntimeError(text)) == expected


def test_a_missing_connector_has_a_way_out() -> None:
    shown = _reason(RuntimeError("[X] Failed to find data source: kafka. Please deploy."))
    assert "help: add to spark.settings: spark.jars.packages" in shown


PIPELINE = """\
sources: [{kind: files, path: inbox, record: //book}]
registry: subscriptions
sinks: [{kind: console}]
"""


def test_subscriptions_that_never_matched_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    (tmp_path / "inbox" / "a.xml").write_text("<r><book><price>5</price></book></r>")
    registry = penstock.Registry.open(tmp_path / "subscriptions")
    registry.add("cheap", "//book[price < 10]")
    registry.add("dear", "//book[price > 10]")
    registry.add("typo", "//bok")
    (tmp_path / "pipeline.yaml").write_text(PIPELINE)
    pipeline = load(tmp_path / "pipeline.yaml")
    assert list(silent_lines(pipeline, Outcome(documents=1, matched={"cheap"}))) == [
        "2 of 3 subscriptions never matched",
        "dear: `//book` 1 → `[price > 10]` 0",
        "dear: values of `price` seen: 5 to 5",
        "typo: `//bok` 0",
        "typo: no element is called `bok`; similar: book",
    ]
    assert list(silent_lines(pipeline, Outcome())) == []
