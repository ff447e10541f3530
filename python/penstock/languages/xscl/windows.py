"""Windows: a number and a unit, in seconds."""

from __future__ import annotations

from difflib import get_close_matches

WINDOW_SECONDS_MAX = 1e12
"""Thirty thousand years; what is longer is INF."""

INFINITE = "INF"

_UNITS = {
    1e-6: ("us", "microsecond", "microseconds"),
    1e-3: ("ms", "millisecond", "milliseconds"),
    1.0: ("s", "sec", "second", "seconds"),
    60.0: ("min", "minute", "minutes"),
    3600.0: ("h", "hour", "hours"),
    86_400.0: ("d", "day", "days"),
    604_800.0: ("w", "week", "weeks"),
}
UNIT_SECONDS = {name: seconds for seconds, names in _UNITS.items() for name in names}


def window_seconds(number: str, unit_seconds: float) -> float:
    """Return a window in seconds, in whole microseconds as event times are."""
    return round(float(number) * unit_seconds, 6)


def suggest_unit(text: str) -> str:
    """Return the way out for a unit that is none."""
    close = get_close_matches(text.lower(), UNIT_SECONDS, 1)
    return f"did you mean {close[0]}?" if close else "the units are us, ms, s, min, h, days, weeks"
