"""Where a source has come, with versions of Spark that say it and with those that do not."""

from __future__ import annotations

import pytest

pytest.importorskip("pyspark")

INITIAL = {"batch": 0}


def test_what_spark_says_goes_before_what_was_returned() -> None:
    from penstock.spark.sources.bounds import Reached

    reached = Reached()
    reached.note({"batch": 7})
    assert reached.start({"batch": 3}, INITIAL) == {"batch": 3}


def test_a_new_stream_starts_at_its_beginning_and_goes_on_where_it_ended() -> None:
    from penstock.spark.sources.bounds import Reached

    reached = Reached()
    assert reached.start(None, INITIAL) == INITIAL
    reached.note({"batch": 1})
    assert reached.start(None, INITIAL) == {"batch": 1}


def test_a_restarted_stream_goes_on_where_its_last_batch_ended() -> None:
    from penstock.spark.sources.bounds import Reached

    reached = Reached()
    reached.resume({"batch": 5})
    assert reached.start(None, INITIAL) == {"batch": 5}
    # Later plans are of batches whose ends it returned itself, and may be behind them.
    reached.note({"batch": 7})
    reached.resume({"batch": 6})
    assert reached.start(None, INITIAL) == {"batch": 7}
