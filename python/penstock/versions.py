"""Which version of the package runs."""

from __future__ import annotations

from penstock import __version__

DISTRIBUTION = "penstock-xml"
"""What the package is installed by; ``penstock`` is another project on the public index."""


def own_version() -> str:
    """Return the version of the package in this process."""
    return __version__
