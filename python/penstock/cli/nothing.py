"""Why queries gave nothing, in two lines each, behind a run that is over."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from typing import IO

from penstock.cli.files import STDIN, documents
from penstock.engine.diagnosis import Advice, Samples, diagnose
from penstock.registry import AnyRegistry
from penstock.results import Document
from penstock.sources import Input, inputs
from penstock.sources.listing import Listed
from penstock.sources.records import documents_in

_REASONS_MAX = 5
_NAMES_MAX = 10
_KEPT_BYTES = 4 << 20
SAMPLE_BYTES = 16 << 20
"""So much of all documents is read again to see why nothing was found."""


class RememberedStdin:
    """Standard input whose first bytes are kept, so that they can be looked at again."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._kept = bytearray()
        self.is_cut = False
        """Whether more was read than is kept."""

    def read(self, count: int = -1) -> bytes:
        """Return the next bytes as soon as there are some."""
        read: Callable[[int], bytes] = getattr(self._file, "read1", self._file.read)
        piece = read(count)
        if len(self._kept) < _KEPT_BYTES:
            self._kept += piece
        elif piece:
            self.is_cut = True
        return piece

    read1 = read

    def seekable(self) -> bool:
        """Return whether the file can be read from its end."""
        return self._file.seekable()

    def __getattr__(self, name: str) -> object:
        return getattr(self._file, name)

    def documents(self) -> Iterator[Document]:
        """Yield the documents of what was kept."""
        return documents_in(BytesIO(bytes(self._kept)), Listed(STDIN, 0, 0))


def explain_nothing(
    registry: AnyRegistry,
    silent: Sequence[str],
    names: Sequence[str],
    stdin: RememberedStdin | None,
) -> None:
    """Print why subscriptions gave no row, looking at the first documents again."""
    has_labels = len(registry) > 1
    if not names:
        print("nothing was read: there are no files", file=sys.stderr)
        return
    samples = Samples(lambda: sample_inputs(names, stdin), SAMPLE_BYTES)
    samples.is_cut = stdin is not None and stdin.is_cut
    for line in reasons(registry, silent, samples, has_labels=has_labels):
        print(line, file=sys.stderr)


def reasons(
    registry: AnyRegistry,
    silent: Sequence[str],
    samples: Samples,
    *,
    has_labels: bool,
) -> Iterator[str]:
    """Yield two lines about each subscription of a few, and the names of further ones."""
    for name in silent[:_REASONS_MAX]:
        subscription = registry.get(name)
        if subscription is None:
            continue
        found = diagnose(subscription.query, samples, Advice.COMMAND)
        label = f"{name}: " if has_labels else ""
        lines = found.decisive() or ["nothing was found, and the documents do not say why"]
        for line in lines:
            yield f"{label}{line.strip()}"
    others = silent[_REASONS_MAX:]
    if others:
        more = ", …" if len(others) > _NAMES_MAX else ""
        listed = ", ".join(others[:_NAMES_MAX])
        yield f"{len(others)} further subscriptions gave no row: {listed}{more}"


def sample_inputs(names: Sequence[str], stdin: RememberedStdin | None) -> Iterator[Input]:
    """Yield the documents of files once more; of a pipe, what was kept of it."""
    for name in names:
        if name == STDIN and stdin is not None:
            yield from inputs(stdin.documents())
        elif os.path.isfile(name):
            yield from inputs(documents([name]))
