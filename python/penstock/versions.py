"""Which version of the package runs."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

DISTRIBUTION = "penstock-xml"
"""What the package is installed by; ``penstock`` is another project on the public index."""


@cache
def own_version() -> str:
    """Return the version of the package in this process."""
    try:
        return version(DISTRIBUTION)
    except PackageNotFoundError:  # a checkout that is not installed
        return "unknown"
