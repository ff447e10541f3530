"""Variables of the environment and secrets in files, in the texts of a pipeline's file."""

from __future__ import annotations

import os
import re
from pathlib import Path

_REFERENCE = re.compile(r"\$(\$\{)|\$\{(?:file:([^}]*)|([^}]*))\}")


def filled(text: str) -> str:
    """Return a text with variables and the contents of files in their places.

    Raises:
        LookupError: A variable is not set, or a file cannot be read.
    """
    return _REFERENCE.sub(_value, text)


def _value(found: re.Match[str]) -> str:
    escaped, path, name = found.groups()
    if escaped is not None:
        return "${"
    if path is None:
        if name not in os.environ:
            raise LookupError(f"the variable `{name}` is not set")
        return os.environ[name]
    try:
        return Path(path).read_text("utf-8").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise LookupError(f"the file `{path}` cannot be read: {reason}") from None
