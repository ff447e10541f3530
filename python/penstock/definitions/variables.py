"""Variables of the environment and secrets in files, in the texts of a pipeline's file."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

_REFERENCE = re.compile(r"\$(\$\{)|\$\{(?:file:([^}]*)|([^}]*))\}")
_IS_SECRET = re.compile(r"(?i)passw|secret|token|credential|api_?key|access_?key|private")
"""Names of variables whose values nobody shall see; those of others may be names of folders."""
HIDDEN_LENGTH_MIN = 4
"""What is shorter is no secret, and hiding it would garble messages."""


class Secrets:
    """What was filled in and shall not be seen, by what stands in the file in its place."""

    def __init__(self) -> None:
        self._hidden: dict[str, str] = {}

    def fill(self, text: str, folder: Path) -> str:
        """Return a text with variables and the contents of files in their places.

        Paths are taken from the folder.

        Raises:
            LookupError: A variable is not set, or a file cannot be read.
        """
        return _REFERENCE.sub(lambda found: self._value(found, folder), text)

    def hides(self, text: str) -> bool:
        """Return whether there is a secret in a text."""
        return any(secret in text for secret in self._hidden)

    def redacted(self, text: str) -> str:
        """Return a text with references where secrets stood."""
        # One secret may be a part of another.
        for secret in sorted(self._hidden, key=len, reverse=True):
            text = text.replace(secret, self._hidden[secret])
        return text

    def redact(self, error: Exception) -> None:
        """Take the secrets out of what an exception says."""
        if not self._hidden:
            return
        error.args = tuple(self._without(one) for one in error.args)
        for name, value in vars(error).items():
            setattr(error, name, self._without(value))
        # What Java says is asked of Java each time, so a cause that tells a secret goes.
        if any(self.hides(str(one)) for one in _linked(error)):
            error.__cause__, error.__suppress_context__ = None, True

    def _without(self, value: object) -> object:
        return self.redacted(value) if isinstance(value, str) else value

    def _value(self, found: re.Match[str], folder: Path) -> str:
        escaped, path, name = found.groups()
        if escaped is not None:
            return "${"
        if path is None:
            if name not in os.environ:
                raise LookupError(f"the variable `{name}` is not set")
            value, is_secret = os.environ[name], bool(_IS_SECRET.search(name))
        else:
            value, is_secret = _secret(folder / path, path), True
        if is_secret and len(value) >= HIDDEN_LENGTH_MIN:
            self._hidden[value] = found[0]
        return value


def _linked(error: BaseException) -> Iterator[BaseException]:
    """Yield the exceptions that led to one."""
    seen = {id(error)}
    waiting = [error.__cause__, error.__context__]
    while waiting:
        one = waiting.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            yield one
            waiting += [one.__cause__, one.__context__]


def _secret(file: Path, path: str) -> str:
    try:
        # Some editors begin a file with a mark of its encoding.
        return file.read_text("utf-8-sig").rstrip("\r\n")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise LookupError(f"the file `{path}` cannot be read: {reason}") from None
