"""``penstock run``: what Spark complains of, in one line."""

import pytest

from penstock.cli.run import _reason

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
