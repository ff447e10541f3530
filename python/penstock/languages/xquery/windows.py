"""How far apart in time the documents may be that a query over several streams joins."""

from __future__ import annotations

import re

from penstock.errors import QueryError
from penstock.languages.xscl.windows import (
    INFINITE,
    UNIT_SECONDS,
    WINDOW_SECONDS_MAX,
    suggest_unit,
    window_seconds,
)

_WINDOW = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]*)\s*")


def within_us(window: str | float | None, text: str) -> int | None:
    """Return a window in microseconds; None for one without an end.

    Raises:
        QueryError: It is no window.
    """
    if window is None or window == INFINITE:
        return None
    found = _WINDOW.fullmatch(str(window))
    number, unit = found.groups() if found else ("", "")
    if not number or unit not in {"", *UNIT_SECONDS}:
        way_out = suggest_unit(unit) if number else 'write a number and a unit: within="2 h"'
        message = f"`within` is {window!r}"
        raise QueryError("PQ0512", message, (0, len(text)), way_out, text)
    seconds = window_seconds(number, UNIT_SECONDS.get(unit, 1.0))
    return None if seconds > WINDOW_SECONDS_MAX else round(seconds * 1_000_000)
