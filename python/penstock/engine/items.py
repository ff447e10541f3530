"""Items of XQuery: rows of nodes stay rows, atomic values become values of Python."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from decimal import Decimal

from penstock.results import Result

Item = Result | int | float | str | bool | Decimal | dt.date | dt.time | dt.timedelta
"""What a sequence consists of. A ``datetime`` is a ``date`` as well."""

XS = "{http://www.w3.org/2001/XMLSchema}"
"""The names of rows that are atomic values begin with this; the type follows."""

_SPECIAL = {"INF": "inf", "-INF": "-inf", "NaN": "nan"}
_DURATION = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(\.\d+)?S)?)?")


def item_of(row: Result) -> Item:
    """Return the item that a row stands for.

    A value that Python has no type for (a month without a day, a date before the year 1) comes as
    its text.
    """
    if not row.name.startswith(XS) or row.kind not in ("number", "string", "boolean"):
        return row
    text = row.value or ""
    convert = _TYPES.get(row.name.removeprefix(XS))
    try:
        return text if convert is None else convert(text)
    except (ValueError, OverflowError):
        return text


def _double(text: str) -> float:
    return float(_SPECIAL.get(text, text))


def _duration(text: str) -> dt.timedelta:
    parts = _DURATION.fullmatch(text)
    if parts is None:
        raise ValueError(text)
    sign, days, hours, minutes, seconds, fraction = parts.groups(default="0")
    length = dt.timedelta(
        days=int(days),
        hours=int(hours),
        minutes=int(minutes),
        seconds=int(seconds),
        microseconds=int(Decimal(fraction) * 1_000_000),
    )
    return -length if sign == "-" else length


def _date(text: str) -> dt.date:
    # A date with a time zone has no counterpart, and the zone is not dropped in silence.
    return dt.date.fromisoformat(text)


_TYPES: dict[str, Callable[[str], Item]] = {
    "integer": int,
    "decimal": Decimal,
    "double": _double,
    "float": _double,
    "boolean": lambda text: text == "true",
    "date": _date,
    "dateTime": dt.datetime.fromisoformat,
    "time": dt.time.fromisoformat,
    "dayTimeDuration": _duration,
}
"""How the text of a type becomes a value; all other types are texts."""
