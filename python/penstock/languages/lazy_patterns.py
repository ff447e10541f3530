"""Regular expressions that are compiled by their first use.

Tables of the characters of names take a good part of the time that an import takes.
"""

from __future__ import annotations

import re
from typing import Any, cast


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern whose methods compile it when one of them is first called."""
    return cast("re.Pattern[str]", _LazyPattern(text, flags))


class _LazyPattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = re.compile(self._text, self._flags)
        method = getattr(compiled, name)
        # The next access finds it at once.
        setattr(self, name, method)
        return method
