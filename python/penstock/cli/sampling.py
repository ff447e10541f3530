"""Which of many files are looked at."""

from __future__ import annotations

import os

from penstock.cli.files import STDIN


def at_even_distances(names: list[str], count: int) -> list[str]:
    """Return at most so many files, from the first to the last.

    Raises:
        OSError: A file is not there.
    """
    for name in names:
        if name != STDIN:
            os.lstat(name)  # a link that leads nowhere is reported when it is read
    if len(names) <= count:
        return names
    return [names[number * len(names) // count] for number in range(count)]
