"""How a namespace is bound: typed on a command line, or written in a program."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum


class Advice(Enum):
    """For whom advice is."""

    PROGRAM = "program"
    COMMAND = "command"

    def bind(self, prefix: str, uris: Sequence[str]) -> str:
        """Return what binds a prefix to namespaces."""
        if self is Advice.COMMAND:
            return " ".join(f"-n {prefix}={uri}" for uri in uris)
        value = repr(uris[0]) if len(uris) == 1 else repr(list(uris))
        return f"namespaces={{{prefix!r}: {value}}}"
