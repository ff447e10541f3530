"""Dates, times and durations: their texts, and calculations with them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from decimal import Decimal

from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.items import Duration, Moment

DAY = 86_400
_ZONE = r"(Z|[+-]\d\d:\d\d)?"
_DATE = r"(-?(?:[1-9]\d{3,}|0\d{3}))-(\d\d)-(\d\d)"
_TIME = r"(\d\d):(\d\d):(\d\d(?:\.\d+)?)"
_FORMS = {
    "date": re.compile(_DATE + _ZONE),
    "time": re.compile(_TIME + _ZONE),
    "dateTime": re.compile(f"{_DATE}T{_TIME}{_ZONE}"),
}
_DURATION = re.compile(
    r"(-)?P(?=.)(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?"
    r"(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_ANY_DAY = (1972, 12, 31)
"""The day that times are compared on."""
_ZONE_MAX = 14 * 60


def read_moment(type_: str, text: str) -> Moment | None:
    """Return the moment that a text writes, or None if it writes none.

    Raises:
        DynamicError: FODT0001, the year is out of reach.
    """
    found = _FORMS[type_].fullmatch(text)
    if found is None:
        return None
    parts = list(found.groups())
    zone = _read_zone(parts.pop())
    if zone is not None and abs(zone) > _ZONE_MAX:
        return None
    seconds = Decimal(0)
    if type_ != "date":
        hours, minutes, rest = int(parts[-3]), int(parts[-2]), Decimal(parts[-1])
        is_midnight = hours == 24 and minutes == 0 and rest == 0
        if (hours > 23 and not is_midnight) or minutes > 59 or rest >= 60:
            return None
        seconds = Decimal(hours * 3600 + minutes * 60) + rest
        parts = parts[:-3]
    if type_ == "time":
        return Moment(*_ANY_DAY, seconds % DAY, zone)
    year, month, day = map(int, parts)
    if year == 0 or not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    if not 1 <= year <= 9999:
        raise DynamicError("FODT0001", f"the year {year} is out of reach")
    if day > days_in(year, month):
        return None
    moment = Moment(year, month, day, Decimal(0), zone)
    return _shifted(moment, seconds)


def _read_zone(text: str | None) -> int | None:
    if text is None:
        return None
    if text == "Z":
        return 0
    hours, minutes = text[1:].split(":")
    if int(minutes) > 59:
        return _ZONE_MAX + 1
    return (-1 if text[0] == "-" else 1) * (int(hours) * 60 + int(minutes))


def write_moment(type_: str, moment: Moment) -> str:
    """Return the canonical text of a moment."""
    days = f"{moment.year:04}-{moment.month:02}-{moment.day:02}"
    whole_minutes, seconds = divmod(moment.seconds, 60)
    hours, minutes = divmod(int(whole_minutes), 60)
    whole, fraction = divmod(seconds, 1)
    time = f"{hours:02}:{minutes:02}:{int(whole):02}"
    if fraction:
        time += f"{fraction.normalize():f}"[1:]
    written = {"date": days, "time": time, "dateTime": f"{days}T{time}"}[type_]
    return written + write_zone(moment.zone)


def write_zone(zone: int | None) -> str:
    """Return the text of a time zone."""
    if zone is None:
        return ""
    if zone == 0:
        return "Z"
    hours, minutes = divmod(abs(zone), 60)
    return f"{'-' if zone < 0 else '+'}{hours:02}:{minutes:02}"


def read_duration(text: str) -> Duration | None:
    """Return the duration that a text writes, or None if it writes none."""
    found = _DURATION.fullmatch(text)
    if found is None:
        return None
    sign, years, months, days, hours, minutes, seconds = found.groups()
    factor = -1 if sign else 1
    whole = int(days or 0) * DAY + int(hours or 0) * 3600 + int(minutes or 0) * 60
    return Duration(
        factor * (int(years or 0) * 12 + int(months or 0)),
        factor * (Decimal(seconds or 0) + whole),
    )


def write_duration(type_: str, duration: Duration) -> str:
    """Return the canonical text of a duration."""
    if not duration.months and not duration.seconds:
        return "P0M" if type_ == "yearMonthDuration" else "PT0S"
    is_negative = duration.months < 0 or duration.seconds < 0
    years, months = divmod(abs(duration.months), 12)
    days, rest = divmod(abs(duration.seconds), DAY)
    hours, rest = divmod(rest, 3600)
    minutes, seconds = divmod(rest, 60)
    written = "".join(
        f"{int(amount)}{unit}"
        for amount, unit in ((years, "Y"), (months, "M"), (days, "D"))
        if amount
    )
    time = "".join(
        f"{int(amount)}{unit}" for amount, unit in ((hours, "H"), (minutes, "M")) if amount
    )
    if seconds:
        time += f"{seconds.normalize():f}S"
    return f"{'-' if is_negative else ''}P{written}{'T' + time if time else ''}"


def days_in(year: int, month: int) -> int:
    """Return how many days a month has."""
    following = date(year + month // 12, month % 12 + 1, 1) if (year, month) != (9999, 12) else None
    return 31 if following is None else (following - date(year, month, 1)).days


def instant(moment: Moment) -> Decimal:
    """Return a moment in seconds; one without a time zone is in UTC."""
    days = date(moment.year, moment.month, moment.day).toordinal()
    return Decimal(days * DAY) + moment.seconds - 60 * (moment.zone or 0)


def add(moment: Moment, duration: Duration) -> Moment:
    """Return a moment after a duration; days beyond the end of a month are its last one.

    Raises:
        DynamicError: FODT0001, the year is out of reach.
    """
    month = moment.year * 12 + moment.month - 1 + duration.months
    year, month = month // 12, month % 12 + 1
    _check(year)
    day = min(moment.day, days_in(year, month))
    return _shifted(replace(moment, year=year, month=month, day=day), duration.seconds)


def adjust(type_: str, moment: Moment, zone: int | None) -> Moment:
    """Return a moment in another time zone, or without any."""
    if zone is None or moment.zone is None:
        return replace(moment, zone=zone)
    moved = _shifted(moment, Decimal(60 * (zone - moment.zone)))
    if type_ == "date":
        moved = replace(moved, seconds=Decimal(0))
    elif type_ == "time":
        moved = replace(moved, year=_ANY_DAY[0], month=_ANY_DAY[1], day=_ANY_DAY[2])
    return replace(moved, zone=zone)


def on_any_day(moment: Moment) -> Moment:
    """Return the time of a moment, on the day that times are compared on."""
    return replace(moment, year=_ANY_DAY[0], month=_ANY_DAY[1], day=_ANY_DAY[2])


def _shifted(moment: Moment, seconds: Decimal) -> Moment:
    days, rest = divmod(moment.seconds + seconds, DAY)
    if rest < 0:
        days, rest = days - 1, rest + DAY
    ordinal = date(moment.year, moment.month, moment.day).toordinal() + int(days)
    if not 1 <= ordinal <= date.max.toordinal():
        raise DynamicError("FODT0001", "the date is out of reach")
    day = date.fromordinal(ordinal)
    return Moment(day.year, day.month, day.day, rest, moment.zone)


def _check(year: int) -> None:
    if not 1 <= year <= 9999:
        raise DynamicError("FODT0001", f"the year {year} is out of reach")
