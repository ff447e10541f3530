"""Columns of event times: Spark has times that are none."""

from __future__ import annotations

from typing import Any

from penstock.results.documents import FIRST_US, LAST_US


def times_of(column: Any) -> Any:
    """Return a column of timestamps as microseconds since 1970."""
    import pyarrow as pa

    return column.cast(pa.timestamp("us", "UTC")).cast(pa.int64())


def event_times(times_us: Any) -> Any:
    """Return a column of microseconds as timestamps, null where they are no event times."""
    import pyarrow as pa
    import pyarrow.compute as pc

    is_time = pc.and_(pc.greater_equal(times_us, FIRST_US), pc.less_equal(times_us, LAST_US))
    return pc.if_else(is_time, times_us, None).cast(pa.timestamp("us", "UTC"))
