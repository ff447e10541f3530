"""Arithmetic with numbers, dates and durations."""

from __future__ import annotations

import math
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any

from penstock_testing.sequences.casting import cast
from penstock_testing.sequences.comparing import promoted
from penstock_testing.sequences.dates import add, instant
from penstock_testing.sequences.errors import DynamicError, mistyped
from penstock_testing.sequences.items import (
    MOMENTS,
    Atom,
    Duration,
    Moment,
    integer,
    is_numeric,
    primitive,
)
from penstock_testing.sequences.numbers import DECIMAL_MAX, EXACT, to_single


def calculate(sign: str, left: Atom, right: Atom) -> Atom:
    """Return the value of ``left sign right`` for ``+ - * div idiv mod``.

    Raises:
        DynamicError: XPTY0004 for types that the operator does not take; FOAR0001 for a division
            by zero, FOAR0002 for a number out of range, FORG0001 for text that is no number.
    """
    left, right = _numeric_if_untyped(left), _numeric_if_untyped(right)
    if is_numeric(left) and is_numeric(right):
        return _calculate_numbers(sign, left, right)
    value = _calculate_times(sign, left, right)
    if value is None:
        raise mistyped(f"xs:{left.type} {sign} xs:{right.type} has no meaning")
    return value


def negate(atom: Atom) -> Atom:
    """Return ``-atom``."""
    atom = _numeric_if_untyped(atom)
    if not is_numeric(atom):
        raise mistyped(f"xs:{atom.type} has no sign")
    if isinstance(atom.value, int):
        return integer(-atom.value)
    return Atom(primitive(atom.type), -atom.value)


def keep_sign(atom: Atom) -> Atom:
    """Return ``+atom``."""
    atom = _numeric_if_untyped(atom)
    if not is_numeric(atom):
        raise mistyped(f"xs:{atom.type} has no sign")
    return atom


def _numeric_if_untyped(atom: Atom) -> Atom:
    return cast(atom, "double") if atom.type == "untypedAtomic" else atom


def number_type(left: Atom, right: Atom) -> str:
    """Return the type of the sum of two numbers."""
    for kind in ("double", "float"):
        if kind in (primitive(left.type), primitive(right.type)):
            return kind
    return (
        "decimal"
        if isinstance(left.value, Decimal) or isinstance(right.value, Decimal)
        else "integer"
    )


def _calculate_numbers(sign: str, left: Atom, right: Atom) -> Atom:
    kind = number_type(left, right)
    one, other = promoted(left, right)
    if kind in ("double", "float"):
        if sign == "idiv":
            return integer(_divide_whole_doubles(one, other))
        value = _calculate_doubles(sign, one, other)
        return Atom(kind, to_single(value) if kind == "float" else value)
    if sign in ("div", "idiv", "mod") and other == 0:
        raise DynamicError("FOAR0001", "division by zero")
    if kind == "integer" and sign != "div":
        return integer(_calculate_integers(sign, one, other))
    if sign == "idiv":
        return integer(int((Decimal(one) / Decimal(other)).to_integral_value(ROUND_DOWN)))
    return _decimal(sign, Decimal(one), Decimal(other))


def _decimal(sign: str, one: Decimal, other: Decimal) -> Atom:
    calculations: dict[str, Any] = {
        "+": EXACT.add,
        "-": EXACT.subtract,
        "*": EXACT.multiply,
        "div": EXACT.divide,
        "mod": EXACT.remainder,
    }
    try:
        value = calculations[sign](one, other)
    except InvalidOperation:
        raise DynamicError("FOAR0002", "the decimal is out of range") from None
    if abs(value) >= DECIMAL_MAX:
        raise DynamicError("FOAR0002", f"{value} is out of range")
    return Atom("decimal", value)


def _calculate_integers(sign: str, one: int, other: int) -> int:
    match sign:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
    quotient = abs(one) // abs(other) * (1 if (one < 0) == (other < 0) else -1)
    return quotient if sign == "idiv" else one - quotient * other


def _calculate_doubles(sign: str, one: float, other: float) -> float:
    match sign:
        case "+":
            return one + other
        case "-":
            return one - other
        case "*":
            return one * other
        case "mod":
            if math.isinf(one) or other == 0 or math.isnan(one) or math.isnan(other):
                return math.nan
            return math.fmod(one, other)
    if other == 0:
        if one == 0 or math.isnan(one):
            return math.nan
        return math.copysign(math.inf, one) * math.copysign(1, other)
    return one / other


def _divide_whole_doubles(one: float, other: float) -> int:
    if other == 0:
        raise DynamicError("FOAR0001", "division by zero")
    if math.isnan(one) or math.isnan(other) or math.isinf(one):
        raise DynamicError("FOAR0002", "the quotient is no integer")
    return 0 if math.isinf(other) else int(one / other)


def _calculate_times(sign: str, left: Atom, right: Atom) -> Atom | None:
    one, other = left.value, right.value
    if isinstance(one, Moment) and isinstance(other, Moment):
        if sign == "-" and left.type == right.type:
            return Atom("dayTimeDuration", Duration(0, instant(one) - instant(other)))
        return None
    if isinstance(other, Moment):
        return _move(right, one) if sign == "+" and isinstance(one, Duration) else None
    if isinstance(one, Moment) and isinstance(other, Duration):
        if sign == "-":
            other = Duration(-other.months, -other.seconds)
        return _move(left, other) if sign in "+-" else None
    if isinstance(one, Duration) and isinstance(other, Duration):
        return _calculate_durations(sign, left, right)
    if isinstance(one, Duration) and is_numeric(right) and sign in ("*", "div"):
        return _scale(sign, left, right)
    if isinstance(other, Duration) and is_numeric(left) and sign == "*":
        return _scale(sign, right, left)
    return None


def _move(moment: Atom, duration: Duration) -> Atom | None:
    """Return a date or time after a duration; a time takes no months."""
    kind = primitive(moment.type)
    assert kind in MOMENTS
    if kind == "time":
        if duration.months:
            return None
        value: Moment = moment.value
        seconds = (value.seconds + duration.seconds) % 86_400
        seconds += 86_400 if seconds < 0 else 0
        return Atom("time", Moment(value.year, value.month, value.day, seconds, value.zone))
    moved = add(moment.value, duration)
    if kind == "date":
        moved = Moment(moved.year, moved.month, moved.day, Decimal(0), moved.zone)
    return Atom(kind, moved)


def _calculate_durations(sign: str, left: Atom, right: Atom) -> Atom | None:
    if left.type != right.type or left.type == "duration":
        return None
    one, other = left.value, right.value
    if sign in ("+", "-"):
        factor = 1 if sign == "+" else -1
        total = Duration(one.months + factor * other.months, one.seconds + factor * other.seconds)
        return Atom(left.type, total)
    if sign == "div":
        pair = (
            (one.months, other.months)
            if left.type == "yearMonthDuration"
            else (one.seconds, other.seconds)
        )
        if not pair[1]:
            raise DynamicError("FOAR0001", "division by a duration of zero")
        return _decimal("div", Decimal(pair[0]), Decimal(pair[1]))
    return None


def _scale(sign: str, duration: Atom, factor: Atom) -> Atom | None:
    if duration.type == "duration":
        return None
    number = factor.value
    if isinstance(number, float):
        if math.isnan(number):
            raise DynamicError("FOCA0005", "NaN times a duration is none")
        if math.isinf(number) and sign == "*":
            raise DynamicError("FODT0002", "the duration is out of range")
        number = Decimal(0) if math.isinf(number) else Decimal(number)
        if math.isinf(factor.value):
            return Atom(duration.type, Duration(0, Decimal(0)))
    number = Decimal(number)
    if sign == "div" and number == 0:
        raise DynamicError("FODT0002", "a duration is not divided by zero")
    value = duration.value
    months, seconds = Decimal(value.months), value.seconds
    months = months * number if sign == "*" else months / number
    seconds = EXACT.multiply(seconds, number) if sign == "*" else EXACT.divide(seconds, number)
    # Half a month goes to the later one, whatever the sign.
    whole = math.floor(months + Decimal("0.5"))
    return Atom(duration.type, Duration(whole, _to_microseconds(seconds)))


def _to_microseconds(seconds: Decimal) -> Decimal:
    return seconds.quantize(Decimal("0.000001"), ROUND_HALF_UP).normalize()
