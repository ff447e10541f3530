"""Numbers: their texts, and the precision of each type."""

from __future__ import annotations

import math
import re
import struct
from decimal import Context, Decimal

DIGITS = 28
"""Significant digits of a decimal."""
EXACT = Context(prec=DIGITS)
DECIMAL_MAX = Decimal(2) ** 96
"""A decimal is smaller, whatever its sign."""

_DECIMAL = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)")
_INTEGER = re.compile(r"[+-]?\d+")
_DOUBLE = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_SPECIAL = {"INF": math.inf, "-INF": -math.inf, "NaN": math.nan}


def read_integer(text: str) -> int | None:
    """Return the integer that a text writes, or None."""
    return int(text) if text.isascii() and _INTEGER.fullmatch(text) else None


def read_decimal(text: str) -> Decimal | None:
    """Return the decimal that a text writes, or None."""
    return Decimal(text) if text.isascii() and _DECIMAL.fullmatch(text) else None


def read_double(text: str) -> float | None:
    """Return the double that a text writes, or None."""
    if text in _SPECIAL:
        return _SPECIAL[text]
    return float(text) if text.isascii() and _DOUBLE.fullmatch(text) else None


def to_single(value: float) -> float:
    """Return the nearest number of 32 bits."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def write_decimal(value: Decimal | int) -> str:
    """Return the canonical text of a decimal: no exponent, no needless zero."""
    text = f"{Decimal(value):f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def write_double(value: float, is_single: bool = False) -> str:
    """Return the text of a floating-point number, by the rules for a cast to a string."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    shortest = _shortest_single(value) if is_single else Decimal(repr(value))
    if 1e-6 <= abs(value) < 1e6:
        return write_decimal(shortest)
    sign, digits, exponent = shortest.normalize().as_tuple()
    assert isinstance(exponent, int)
    mantissa = str(digits[0]) + "." + ("".join(map(str, digits[1:])) or "0")
    return f"{'-' if sign else ''}{mantissa}E{exponent + len(digits) - 1}"


def _shortest_single(value: float) -> Decimal:
    """Return the fewest digits that only this number of 32 bits is nearest to."""
    texts = (f"{value:.{digits}e}" for digits in range(9))
    return Decimal(next((text for text in texts if to_single(float(text)) == value), repr(value)))
