"""Documents and heartbeats: their event times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from penstock.errors import DocumentError
from penstock.results import Document, Heartbeat
from penstock.results.documents import (
    FIRST_US,
    LAST_US,
    check_event_time,
    microseconds_of,
    moment_of,
)

WEST = timezone(-timedelta(hours=12))


def test_an_event_time_is_in_utc() -> None:
    noon = datetime(2020, 1, 1, 12)
    assert Document(b"", time=noon).event_time == noon.replace(tzinfo=UTC)
    west = Heartbeat("S", noon.replace(tzinfo=WEST)).event_time
    assert (west.tzinfo, west.hour) == (UTC, 0)
    assert Document(b"", time=1.5).event_time == datetime(1970, 1, 1, 0, 0, 1, 500_000, UTC)


@pytest.mark.parametrize("time_us", [FIRST_US, LAST_US])
def test_the_first_and_the_last_event_time_are_event_times(time_us: int) -> None:
    check_event_time(time_us)
    assert microseconds_of(moment_of(time_us)) == time_us
    assert Document(b"", time=moment_of(time_us)).event_time == moment_of(time_us)


@pytest.mark.parametrize("time_us", [FIRST_US - 1, LAST_US + 1])
def test_one_microsecond_further_is_none(time_us: int) -> None:
    with pytest.raises(DocumentError, match="PS0010"):
        check_event_time(time_us)


def test_a_time_that_is_no_event_time_in_utc_is_none() -> None:
    with pytest.raises(DocumentError, match="PS0010"):
        _ = Heartbeat("S", datetime.max.replace(tzinfo=WEST)).event_time
