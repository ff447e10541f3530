"""Polls of feeds on disk: a server shows its past to nobody, so a replay reads it from here."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from penstock.sources.feeds.states import States, dump, load
from penstock.storage import whole_file

_NAME = re.compile(r"^poll-(\d{10})\.arrow$")
_STATES = b"penstock.states"


class Spool:
    """Numbered polls in a folder, each with its rows and what is remembered after it.

    A poll appears whole or not at all. One stream at a time may use a folder.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def numbers(self) -> list[int]:
        """Return the numbers of the polls that are kept, in order."""
        if not os.path.isdir(self.folder):
            return []
        names = map(_NAME.match, os.listdir(self.folder))
        return sorted(int(name[1]) for name in names if name)

    def path(self, number: int) -> str:
        """Return where a poll is kept."""
        return os.path.join(self.folder, f"poll-{number:010}.arrow")

    def write(self, number: int, batches: Iterable[Any], schema: Any, states: States) -> None:
        """Keep a poll: on return it survives a loss of power."""
        import pyarrow as pa

        with whole_file(Path(self.path(number))) as file:
            tagged = schema.with_metadata({_STATES: dump(states).encode()})
            with pa.ipc.new_file(file, tagged) as writer:
                for batch in batches:
                    writer.write_batch(batch.replace_schema_metadata(tagged.metadata))

    def states(self, number: int) -> States:
        """Return what is remembered after a poll."""
        import pyarrow as pa

        with pa.OSFile(self.path(number)) as file:
            metadata = pa.ipc.open_file(file).schema.metadata
        return load(metadata[_STATES].decode())

    def forget_before(self, number: int) -> None:
        """Remove the polls before one; its own states are still needed."""
        for old in self.numbers():
            if old < number:
                os.remove(self.path(old))


def read_poll(path: str) -> Iterator[Any]:
    """Yield the rows of a poll as record batches."""
    import pyarrow as pa

    with pa.OSFile(path) as file:
        reader = pa.ipc.open_file(file)
        for index in range(reader.num_record_batches):
            yield reader.get_batch(index).replace_schema_metadata(None)
