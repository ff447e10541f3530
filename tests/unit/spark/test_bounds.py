"""Spark takes limits that give the same rows in every run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from penstock.errors import SettingError
from penstock.limits import Limits
from penstock.registry import MemoryRegistry
from penstock.spark import join, join_stream
from penstock.spark.bounds import checked_limits
from penstock.spark.match import match_inputs
from penstock.spark.sources.options import XmlOptions

SECONDS = Limits(seconds_max=1.5)


def test_limits_that_count_are_taken() -> None:
    limits = Limits(steps_max=7)
    assert checked_limits(limits) is limits
    assert checked_limits(None) == Limits()


@pytest.mark.parametrize(
    "use",
    [
        lambda: checked_limits(SECONDS),
        lambda: match_inputs(cast("Any", None), MemoryRegistry(), SECONDS),
        lambda: join(
            cast("Any", SimpleNamespace(isStreaming=False)), MemoryRegistry(), limits=SECONDS
        ),
        lambda: join_stream(
            cast("Any", SimpleNamespace(isStreaming=True)),
            MemoryRegistry(),
            "state",
            "out",
            limits=SECONDS,
        ),
        lambda: XmlOptions.of({"path": "in", "limits": '{"seconds_max": 1}'}),
    ],
)
def test_seconds_are_rejected(use: Any) -> None:
    with pytest.raises(SettingError, match=r"PL0019: seconds_max is not for Spark.* steps_max"):
        use()
