"""Libraries that only some need, and the line that installs what is missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from penstock.errors import MissingExtraError


def load(module: str, extra: str) -> Any:
    """Return a module of a library that an extra brings.

    Raises:
        MissingExtraError: It is not installed; the message has the line that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise missing(error, extra) from error


def missing(error: ImportError, extra: str) -> MissingExtraError:
    """Return the error about a library that could not be imported."""
    library = (error.name or "a library").partition(".")[0]
    return MissingExtraError("PX0001", f"{library} is missing; pip install 'penstock-xml[{extra}]'")
