"""How a header travels with its document: in a message of Kafka, in a frame, or in a side file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from penstock.errors import SettingError
from penstock.storage import whole_file

KAFKA_HEADER = "penstock-views"
"""The key of the message header of Kafka that holds a header."""
SUFFIX = ".views"
"""What the name of a side file adds to that of its document."""
_MAGIC = b"PVF1"
_LENGTHS = 4 + 8
FRAME_HEADER_BYTES_MAX = 1 << 20


def to_kafka(header: bytes) -> tuple[str, bytes]:
    """Return a header as one of the headers of a message: key and value."""
    return KAFKA_HEADER, header


def from_kafka(headers: Iterable[tuple[str, bytes | None]] | None) -> bytes | None:
    """Return the header among the headers of a message; the last one, if there are several."""
    found = None
    for key, value in headers or ():
        if key == KAFKA_HEADER:
            found = value
    return found


def write_frame(file: BinaryIO, header: bytes, document: bytes) -> None:
    """Append a header and its document to a file."""
    lengths = len(header).to_bytes(4, "little") + len(document).to_bytes(8, "little")
    file.write(_MAGIC + lengths + header + document)


def read_frames(file: BinaryIO, document_bytes_max: int = 1 << 32) -> Iterator[tuple[bytes, bytes]]:
    """Yield the headers and documents of a file.

    Raises:
        SettingError: The file has no frame where one should begin, or ends within one.
    """
    place = 0
    while start := file.read(len(_MAGIC) + _LENGTHS):
        lengths = start[len(_MAGIC) :]
        header_bytes = int.from_bytes(lengths[:4], "little")
        document_bytes = int.from_bytes(lengths[4:], "little")
        if (
            not start.startswith(_MAGIC)
            or len(lengths) < _LENGTHS
            or header_bytes > FRAME_HEADER_BYTES_MAX
            or document_bytes > document_bytes_max
        ):
            raise SettingError("PV0004", f"there is no frame at byte {place}")
        header, document = file.read(header_bytes), file.read(document_bytes)
        if len(header) < header_bytes or len(document) < document_bytes:
            raise SettingError("PV0004", f"the frame at byte {place} is cut off")
        place += len(start) + header_bytes + document_bytes
        yield header, document


def side_file(document: str | os.PathLike[str]) -> Path:
    """Return where the header of a document in a file is."""
    return Path(f"{os.fspath(document)}{SUFFIX}")


def write_side_file(document: str | os.PathLike[str], header: bytes) -> Path:
    """Write the header of a document in a file beside it; return where.

    Raises:
        OSError: It cannot be written.
    """
    path = side_file(document)
    with whole_file(path) as file:
        file.write(header)
    return path


def read_side_file(document: str | os.PathLike[str]) -> bytes | None:
    """Return the header beside a document in a file; None if there is none.

    Raises:
        OSError: It cannot be read.
    """
    path = side_file(document)
    return path.read_bytes() if path.exists() else None
