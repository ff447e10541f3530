"""Which run it is: rows carry the name of their run, and a later run has another."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime


def new_run(now: datetime | None = None, token: str | None = None) -> str:
    """Return the name of a run of a batch pipeline: when it began, and a random part."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"{moment:%Y%m%dT%H%M%SZ}-{token or secrets.token_hex(4)}"
