"""Where a command writes to."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from penstock.cli.files import STDIN
from penstock.storage import whole_file


@contextmanager
def open_output(name: str | None, *, is_whole: bool = True) -> Iterator[IO[bytes]]:
    """Give standard output, or a file that appears when it is complete.

    With ``is_whole`` unset, and for what is no regular file, such as ``/dev/null`` or a pipe,
    everything is written at once.

    Raises:
        OSError: It cannot be written.
    """
    if name is None or name == STDIN:
        yield sys.stdout.buffer
    elif is_whole and (os.path.isfile(name) or not os.path.exists(name)):
        with whole_file(Path(name)) as file:
            yield file
    else:
        with open(name, "wb") as file:
            yield file
