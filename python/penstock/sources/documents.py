"""Whatever a caller has, as a sequence of inputs."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import cast

from penstock.errors import DocumentError
from penstock.results import Data, Document, Heartbeat
from penstock.sources.files import FileInput
from penstock.sources.inputs import Input, Refused
from penstock.sources.memory import BytesInput, TextInput
from penstock.sources.streams import StreamInput

Source = Data | Document | Iterable[Document | Data | Heartbeat | Input]
"""One document, or an iterable of documents; an item without metadata may be its data alone."""


def inputs(source: Source) -> Iterator[Input]:
    """Yield the documents of a source, one after the other.

    Raises:
        TypeError: The source, or an item of it, is nothing that a document can be read from.
    """
    return (item for item in items(source) if isinstance(item, Input))


def items(source: Source) -> Iterator[Input | Heartbeat]:
    """Yield the documents and the heartbeats of a source, one after the other.

    Raises:
        TypeError: The source, or an item of it, is nothing that a document can be read from.
    """
    if isinstance(source, Document) or _is_data(source):
        _refuse_name(source)
        yield input_of(cast("Document | Data", source), 0)
        return
    if isinstance(source, Mapping):
        raise TypeError("streams with their sources are read side by side, by Engine.run and steps")
    if not isinstance(source, Iterable):
        raise TypeError(
            "a source is a path, bytes, XML text, a binary file or an iterable of Document, "
            f"not {type(source).__name__}"
        )
    position = 0
    # Bytes iterate over numbers, but those were taken as data above.
    for item in cast("Iterable[Document | Data | Heartbeat | Input]", source):
        if isinstance(item, Heartbeat):
            yield _checked(item)
        else:
            _refuse_name(item)
            yield input_of(item, position)
            position += 1


def _checked(heartbeat: Heartbeat) -> Input | Heartbeat:
    """Return a heartbeat; one whose time is none is a document without bytes that failed."""
    empty = input_of(Document(b"", "", heartbeat.stream, heartbeat.time), 0)
    return empty if isinstance(empty, Refused) else heartbeat


def input_of(item: Document | Data | Input, position: int) -> Input:
    """Return the input of one document; without an id its file name or its position becomes one.

    A document whose event time is none gives an input that cannot be read.

    Raises:
        TypeError: It is nothing that a document can be read from.
    """
    if not isinstance(item, Document):
        return _input(item, None, position, "default", None)
    try:
        return _input(item.data, item.id, position, item.stream, item.event_time)
    except DocumentError as error:
        return Refused(_input(item.data, item.id, position, item.stream, None), error)


def _input(
    data: Data | Input, given: str | None, position: int, stream: str, event_time: datetime | None
) -> Input:
    name = str(position) if given is None else given
    match data:
        case str():
            return TextInput(data, name, stream, event_time)
        case bytes() | bytearray() | memoryview():
            return BytesInput(data, name, stream, event_time)
        case os.PathLike():
            return FileInput(data, given, stream, event_time)
        case Input():
            return data
        case file if hasattr(file, "read"):
            title = getattr(file, "name", None)
            if given is None and isinstance(title, str):
                name = title
            return StreamInput(file, name, stream, event_time)
        case other:
            raise TypeError(f"a document is not read from {type(other).__name__}")


def _refuse_name(item: object) -> None:
    """Raise if a text is the name of a file: an error row would hide the mistake of a program."""
    if not isinstance(item, str) or "<" in item or "\n" in item or len(item) > _NAME_MAX:
        return
    if item.lower().endswith(_SUFFIXES) or os.path.exists(item):
        message = f"a str is XML text; for the file {item!r} pass pathlib.Path({item!r})"
        raise TypeError(message)


_NAME_MAX = 4096
_SUFFIXES = (".xml", ".gz", ".zip", ".tar", ".bz2", ".xz", ".zst")


def _is_data(source: object) -> bool:
    return isinstance(source, str | bytes | bytearray | memoryview | os.PathLike) or hasattr(
        source, "read"
    )
