"""A few kills at known places: nothing is lost, nothing is doubled, and the next start succeeds.

`make test-kills` runs many more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.kills.lives import endure
from tests.spark.kills.pipelines import PipelineProject
from tests.spark.kills.strikes import Strike

pytestmark = pytest.mark.spark

STRIKES = (
    Strike("start-up", "offsets"),
    Strike("between sinks", "after parquet", 1),
    Strike("commit", "commits"),
)


def test_kills_at_known_places_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    life = endure("pipeline", PipelineProject(tmp_path, ("parquet", "sqlite")), STRIKES)
    proven = [kill for kill in life.kills if not kill.doubt]
    assert [kill.phase for kill in proven] == [strike.phase for strike in STRIKES], life
    assert [kill.completed for kill in proven] == [0, 1, 1]
    assert life.rows > 0
    assert life.differences == {"parquet": (0, 0), "sqlite": (0, 0)}
