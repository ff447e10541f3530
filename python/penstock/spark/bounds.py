"""The limits that Spark's workers can keep."""

from __future__ import annotations

from penstock.errors import SettingError
from penstock.limits import Limits

WAY_OUT = "steps_max bounds the same work by counting it"


def checked_limits(limits: Limits | None) -> Limits:
    """Return limits that are the same in every run; the default ones for None.

    Raises:
        SettingError: Seconds are limited. How long a document takes depends on how busy a host is,
            and a task that is run again would give other rows.
    """
    if limits is not None and limits.seconds_max is not None:
        message = "seconds_max is not for Spark, where a task that runs again must give the same "
        raise SettingError("PL0019", f"{message}rows; {WAY_OUT}")
    return limits or Limits()
