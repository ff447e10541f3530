"""Functions on dates, times and durations."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from penstock_testing.sequences.context import Context
from penstock_testing.sequences.dates import DAY, adjust, on_any_day
from penstock_testing.sequences.errors import DynamicError
from penstock_testing.sequences.functions.table import function
from penstock_testing.sequences.items import Atom, Duration, Items, Moment, integer

_Part = Callable[[Moment], Items]


def _zone(moment: Moment) -> Items:
    if moment.zone is None:
        return []
    return [Atom("dayTimeDuration", Duration(0, Decimal(moment.zone * 60)))]


_CALENDAR: dict[str, _Part] = {
    "year": lambda m: [integer(m.year)],
    "month": lambda m: [integer(m.month)],
    "day": lambda m: [integer(m.day)],
}
_CLOCK: dict[str, _Part] = {
    "hours": lambda m: [integer(int(m.seconds // 3600))],
    "minutes": lambda m: [integer(int(m.seconds // 60 % 60))],
    "seconds": lambda m: [Atom("decimal", m.seconds % 60)],
}
_PARTS: dict[str, dict[str, _Part]] = {
    "date": {**_CALENDAR, "timezone": _zone},
    "time": {**_CLOCK, "timezone": _zone},
    "dateTime": {**_CALENDAR, **_CLOCK, "timezone": _zone},
}


def _enter_part(type_: str, part: str, take: _Part) -> None:
    @function(f"{part}-from-{type_}", f"{type_}?")
    def _from(_context: Context, given: Items) -> Items:
        return take(_value(given)) if given else []


def _value(items: Items) -> Moment:
    assert isinstance(items[0], Atom)
    assert isinstance(items[0].value, Moment)
    return items[0].value


for _type, _parts in _PARTS.items():
    for _part, _take in _parts.items():
        _enter_part(_type, _part, _take)


def _whole(amount: int, unit: int, limit: int | None) -> int:
    """Return how many units an amount has, beyond those of the next larger unit."""
    sign = -1 if amount < 0 else 1
    count = abs(amount) // unit
    return sign * (count if limit is None else count % limit)


def _enter_duration(part: str, take: Callable[[Duration], Atom]) -> None:
    @function(f"{part}-from-duration", "duration?")
    def _from(_context: Context, given: Items) -> Items:
        if not given:
            return []
        assert isinstance(given[0], Atom)
        return [take(given[0].value)]


def _seconds(duration: Duration) -> Atom:
    sign = -1 if duration.seconds < 0 else 1
    return Atom("decimal", sign * (abs(duration.seconds) % 60))


_enter_duration("years", lambda d: integer(_whole(d.months, 12, None)))
_enter_duration("months", lambda d: integer(_whole(d.months, 1, 12)))
_enter_duration("days", lambda d: integer(_whole(int(d.seconds), DAY, None)))
_enter_duration("hours", lambda d: integer(_whole(int(d.seconds), 3600, 24)))
_enter_duration("minutes", lambda d: integer(_whole(int(d.seconds), 60, 60)))
_enter_duration("seconds", _seconds)


def _enter_adjust(type_: str) -> None:
    @function(f"adjust-{type_}-to-timezone", f"{type_}?", "dayTimeDuration?", least=1)
    def _adjust(context: Context, given: Items, *zone: Items) -> Items:
        if not given:
            return []
        minutes: int | None = context.world.now.zone or 0
        if zone:
            minutes = _minutes(zone[0])
        return [Atom(type_, adjust(type_, _value(given), minutes))]


def _minutes(zone: Items) -> int | None:
    if not zone:
        return None
    assert isinstance(zone[0], Atom)
    seconds = zone[0].value.seconds
    if seconds % 60 or abs(seconds) > 14 * 3600:
        raise DynamicError("FODT0003", "a time zone is whole minutes, and at most fourteen hours")
    return int(seconds // 60)


for _adjusted in ("dateTime", "date", "time"):
    _enter_adjust(_adjusted)


@function("dateTime", "date?", "time?")
def _date_time(_context: Context, date: Items, time: Items) -> Items:
    if not date or not time:
        return []
    day, clock = _value(date), _value(time)
    if day.zone is not None and clock.zone is not None and day.zone != clock.zone:
        raise DynamicError("FORG0008", "date and time are in different time zones")
    zone = clock.zone if day.zone is None else day.zone
    return [Atom("dateTime", Moment(day.year, day.month, day.day, clock.seconds, zone))]


@function("current-dateTime")
def _current_date_time(context: Context) -> Items:
    return [Atom("dateTime", context.world.now)]


@function("current-date")
def _current_date(context: Context) -> Items:
    now = context.world.now
    return [Atom("date", Moment(now.year, now.month, now.day, Decimal(0), now.zone))]


@function("current-time")
def _current_time(context: Context) -> Items:
    return [Atom("time", on_any_day(context.world.now))]


@function("implicit-timezone")
def _implicit_timezone(context: Context) -> Items:
    return [Atom("dayTimeDuration", Duration(0, Decimal((context.world.now.zone or 0) * 60)))]
