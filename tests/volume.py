"""Random volume: a short form runs with all tests, the rest with the slow ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def short(values: Iterable[Any], count: int) -> list[Any]:
    """Return the values for a parameter; all but the first ``count`` are for the slow tests."""
    return [
        value if number < count else pytest.param(value, marks=pytest.mark.slow)
        for number, value in enumerate(values)
    ]
