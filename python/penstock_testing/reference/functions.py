"""The functions and arithmetic operators of XPath 1.0 on atomic values."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence

from penstock_testing.reference.values import Atomic, to_boolean, to_number, to_string

SPACE = re.compile(r"[ \t\r\n]+")


def call(function: str, arguments: Sequence[Atomic]) -> Atomic:
    """Return what a function makes of its arguments, which have the types that it asks for.

    Raises:
        NotImplementedError: There is no such function here.
    """
    if function not in _FUNCTIONS:
        raise NotImplementedError(f"{function}()")
    return _FUNCTIONS[function](*arguments)


def round_half_up(number: float) -> float:
    """Round to the nearest integer, a half towards positive infinity; -0.2 gives -0."""
    if not math.isfinite(number):
        return number
    below = math.floor(number)
    nearest = float(below + 1 if number - below >= 0.5 else below)
    return math.copysign(nearest, number) if nearest == 0 else nearest


def _substring(text: str, first: float, length: float | None = None) -> str:
    begin = round_half_up(first)
    end = math.inf if length is None else begin + round_half_up(length)
    return "".join(c for place, c in enumerate(text, 1) if place >= begin and place < end)


def _translate(text: str, wanted: str, replacement: str) -> str:
    table: dict[str, str] = {}
    for place, character in enumerate(wanted):
        table.setdefault(character, replacement[place : place + 1])
    return "".join(table.get(character, character) for character in text)


def _normalize_space(text: str) -> str:
    return SPACE.sub(" ", text).strip(" ")


def _divide(left: float, right: float) -> float:
    if right != 0:
        return left / right
    if left == 0 or math.isnan(left):
        return math.nan
    return math.copysign(math.inf, left) * math.copysign(1.0, right)


def _modulo(left: float, right: float) -> float:
    """The sign is that of the dividend."""
    if right == 0 or math.isinf(left) or math.isnan(left) or math.isnan(right):
        return math.nan
    return math.fmod(left, right)


def _integral(rounding: Callable[[float], int]) -> Callable[[float], float]:
    def rounded(number: float) -> float:
        if not math.isfinite(number):
            return number
        result = float(rounding(number))
        return math.copysign(result, number) if result == 0 else result

    return rounded


_FUNCTIONS: dict[str, Callable[..., Atomic]] = {
    "string": to_string,
    "concat": lambda *parts: "".join(parts),
    "substring": _substring,
    "substring-before": lambda text, mark: text.partition(mark)[0] if mark and mark in text else "",
    "substring-after": lambda text, mark: text.partition(mark)[2] if mark else text,
    "normalize-space": _normalize_space,
    "translate": _translate,
    "contains": lambda text, part: part in text,
    "starts-with": lambda text, part: text.startswith(part),
    "string-length": lambda text: float(len(text)),
    "number": to_number,
    "floor": _integral(math.floor),
    "ceiling": _integral(math.ceil),
    "round": round_half_up,
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "div": _divide,
    "mod": _modulo,
    "negate": lambda number: -number,
    "boolean": to_boolean,
}
