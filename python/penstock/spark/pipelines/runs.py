"""Which run it is: rows carry the name of their run, and a later run has another."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


def new_run(now: datetime | None = None, token: str | None = None) -> str:
    """Return the name of a run of a batch pipeline: when it began, and a random part.

    A small batch takes less than a second: milliseconds keep runs in order by name.
    """
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    milliseconds = moment.microsecond // 1000
    return f"{moment:%Y%m%dT%H%M%S}.{milliseconds:03}Z-{token or secrets.token_hex(4)}"
