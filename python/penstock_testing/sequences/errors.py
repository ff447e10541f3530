"""The errors of evaluation, with the codes of XQuery."""

from __future__ import annotations


class DynamicError(Exception):
    """An error that a query raises while it is evaluated: its code, and what happened."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(f"{code}: {reason}")
        self.code = code
        self.reason = reason


def mistyped(reason: str) -> DynamicError:
    """Return the error of a value that has the wrong type."""
    return DynamicError("XPTY0004", reason)
