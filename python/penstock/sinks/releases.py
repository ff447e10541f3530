"""Which releases of Spark a sink works with."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.errors import SinkError


def require_release(found: str, works: Sequence[str], what: str) -> None:
    """Return if a version of Spark is one of the releases that work, such as ``4.2``.

    Raises:
        SinkError: It is another one.
    """
    if not any(found == release or found.startswith(f"{release}.") for release in works):
        message = f"{what} are written with Spark {' or '.join(works)}, and this is Spark {found}"
        raise SinkError("PO0005", message)
