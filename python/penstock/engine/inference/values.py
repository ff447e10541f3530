"""What values have in common: the narrowest type that all of them fit."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime

_BLANKS = " \t\r\n"
_INTEGER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})")
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(?:\.([0-9]+))?")
_DOUBLE = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:Z|[+-][0-9]{2}:[0-9]{2})?")
_TIMESTAMP = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(?:\.[0-9]{1,6})?"
    r"(?:Z|[+-][0-9]{2}:[0-9]{2})?"
)
_LEADING_ZERO = re.compile(r"[+-]?0[0-9].*|\+.*")
_SCALE_MAX = 12
_DIGITS_MAX = 38


def _is_date(text: str) -> bool:
    found = _DATE.fullmatch(text)
    return found is not None and _exists(date.fromisoformat, found.group(1))


def _is_timestamp(text: str) -> bool:
    found = _TIMESTAMP.fullmatch(text)
    return found is not None and _exists(datetime.fromisoformat, found.group(1))


def _exists(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


_TYPES: dict[str, Callable[[str], bool]] = {
    "boolean": lambda text: text in ("true", "false"),
    "integer": lambda text: _INTEGER.fullmatch(text) is not None,
    "decimal": lambda text: _DECIMAL.fullmatch(text) is not None,
    "double": lambda text: _DOUBLE.fullmatch(text) is not None,
    "date": _is_date,
    "timestamp": _is_timestamp,
}
"""Types with what fits them, narrow ones first. The digits 0 and 1 are numbers, no booleans."""


@dataclass(slots=True)
class Values:
    """The values of a column: how many there are, how many fit each type, and one that does not.

    Text that begins with a zero or a plus sign, as numbers of accounts and telephones do, fits no
    type of numbers.
    """

    count: int = 0
    empty: int = 0
    fits: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_TYPES, 0))
    misfits: dict[str, str] = field(default_factory=dict)
    digits: int = 0
    scale: int = 0
    zeros: str | None = None
    """A value with leading zeros."""
    is_text: bool = False
    """Whether a type was tried, and did not fit."""

    def add(self, text: str) -> None:
        """Take in a value."""
        self.count += 1
        text = text.strip(_BLANKS)
        if not text:
            self.empty += 1
            return
        if self.zeros is None and text[1:2].isdigit() and _LEADING_ZERO.fullmatch(text):
            self.zeros = text
        for name, is_fit in _TYPES.items():
            if is_fit(text):
                self.fits[name] += 1
            else:
                self.misfits.setdefault(name, text)
        if number := _DECIMAL.fullmatch(text):
            whole, fraction = number.groups()
            self.digits = max(self.digits, len(whole))
            self.scale = max(self.scale, len(fraction or ""))

    @property
    def filled(self) -> int:
        """How many values are not empty."""
        return self.count - self.empty

    def type(self) -> str:
        """Return the type that all values fit."""
        if not self.filled or self.is_text:
            return "string"
        fitting = [name for name in _TYPES if self.fits[name] == self.filled]
        if "decimal" in fitting and "integer" not in fitting:
            return self._decimal()
        return fitting[0] if fitting else "string"

    def evidence(self) -> str:
        """Return why the type is what it is."""
        if not self.count:
            return "no value in the samples"
        if not self.filled:
            return f"{_counted(self.count)}, all empty"
        type_ = self.type()
        if type_ != "string":
            empty = f", {self.empty} empty" if self.empty else ""
            return f"{_counted(self.filled)}, all fit{empty}"
        if self.zeros is not None:
            return f"{_counted(self.filled)}; text keeps {shortened(self.zeros)} as it is"
        name = max(_TYPES, key=lambda name: self.fits[name])
        if 2 * self.fits[name] >= self.filled and self.fits[name] < self.filled:
            misfit = shortened(self.misfits[name])
            return f"{self.fits[name]} of {_counted(self.filled)} fit {name}, not {misfit}"
        return _counted(self.filled)

    def _decimal(self) -> str:
        if self.scale > _SCALE_MAX or self.digits + self.scale > _DIGITS_MAX:
            return "double"
        # Other documents have larger numbers.
        digits = 18 if self.digits + 2 + self.scale <= 18 else _DIGITS_MAX
        return f"decimal({digits},{self.scale})"


def shortened(text: str, width: int = 30) -> str:
    """Return a value in one line."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 1] + "…"


def _counted(count: int) -> str:
    return f"{count} value{'' if count == 1 else 's'}"
