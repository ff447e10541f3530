"""Documents in files, compressed files and archives, read as streams; nothing is extracted."""

from __future__ import annotations

import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import IO, cast

from penstock.errors import DocumentError
from penstock.kernel import CHUNK_BYTES
from penstock.sources.compression import decompress, is_compressed
from penstock.sources.inputs import Piece, unreadable
from penstock.sources.listing import Listed, is_visible
from penstock.sources.stores import LOCAL, Opener

_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_TAR_MAGIC, _TAR_MAGIC_AT = b"ustar", 257
_TAR_HEAD_BYTES = _TAR_MAGIC_AT + len(_TAR_MAGIC)
_BEFORE_MARKUP = b"\xef\xbb\xbf\xfe\xff\0 \t\r\n"
"""Marks of byte order, the zeros of UTF-16, and white space."""
_DAMAGE = (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError)


@dataclass(frozen=True, slots=True)
class Member:
    """A document in a file, or in an archive under the name ``member``.

    ``pieces`` yields its bytes, decompressed, and raises ``DocumentError`` if they cannot be
    had. It is to be called once, and before the next member is asked for.
    """

    path: str
    member: str
    modified: datetime
    pieces: Callable[[], Iterator[Piece]]

    @property
    def id(self) -> str:
        """The path, and the name inside the archive."""
        return f"{self.path}!{self.member}" if self.member else self.path


def members(file: Listed, stores: Opener = LOCAL) -> Iterator[Member]:
    """Yield the documents of a file: itself, or the files in it if it is a zip or tar archive.

    Archives and compression are recognised by their first bytes. In an archive, folders and names
    that begin with a dot or an underscore are skipped, and members may be compressed once more.

    Raises:
        DocumentError: The file cannot be read, or the archive is damaged; after the members
            before the damage.
        StoreError: Its store does not answer.
    """
    try:
        with stores.open(file.path) as opened:
            yield from members_of(cast("IO[bytes]", opened.stream()), file)
    except OSError as error:
        raise _lost(error) from None


def members_of(opened: IO[bytes], file: Listed) -> Iterator[Member]:
    """Yield the documents of an open file, such as standard input; ``file`` describes it.

    Raises:
        DocumentError: As ``members``; also if it is a zip archive in a pipe, which has no end
            to begin with.
    """
    pieces = _read(opened)
    try:
        first = next(pieces, b"")
        while 0 < len(first) < len(_ZIP[0]) and (second := next(pieces, b"")):
            first = bytes(first) + bytes(second)
        if not bytes(first[:4]).startswith(_ZIP):
            yield from _other(file, decompress(chain([first], pieces)))
        elif not opened.seekable():
            reason = "a zip archive cannot be read from a pipe; give the name of its file"
            raise DocumentError("PS0006", reason, 0, 0, "")
        else:
            opened.seek(0)
            yield from _zip_members(file, opened)
    except _DAMAGE as error:
        raise DocumentError("PS0006", f"the archive is damaged: {error}", 0, 0, "") from None


def is_archive(path: str) -> bool:
    """Return whether a file is a zip or tar archive, compressed or not.

    One that cannot be read is none: whoever reads it reports why.
    """
    if not os.path.isfile(path):
        return False  # what a pipe brings can be read only once
    try:
        with open(path, "rb") as opened:
            head = opened.read(_TAR_HEAD_BYTES)
            if not is_compressed(head):
                return head.startswith(_ZIP) or _is_tar(head)
            opened.seek(0)
            return _is_tar(_head_of(decompress(_read(opened)))[0])
    except (DocumentError, OSError):
        return False


def _other(file: Listed, pieces: Iterator[Piece]) -> Iterator[Member]:
    head = b""
    taken: list[Piece] = []
    try:
        head, taken = _head_of(pieces)
    except DocumentError as error:
        # The document itself says that it is damaged, after what could be read.
        pieces = _fail(error)
    whole = chain(taken, pieces)
    if _is_tar(head):
        yield from _tar_members(file, cast("IO[bytes]", _Reader(whole)))
    else:
        yield Member(file.path, "", file.modified, lambda: whole)


def _head_of(pieces: Iterator[Piece]) -> tuple[bytes, list[Piece]]:
    """Return the first bytes, as many as tell a tar archive from XML, and the pieces with them."""
    head = b""
    taken: list[Piece] = []
    # A document that is still arriving is not waited for.
    while len(head) < _TAR_HEAD_BYTES and not head.lstrip(_BEFORE_MARKUP).startswith(b"<"):
        piece = next(pieces, b"")
        if not piece:
            break
        taken.append(piece)
        head += bytes(piece[:_TAR_HEAD_BYTES])
    return head, taken


def _is_tar(head: bytes) -> bool:
    return head[_TAR_MAGIC_AT:].startswith(_TAR_MAGIC)


def _zip_members(file: Listed, opened: IO[bytes]) -> Iterator[Member]:
    with zipfile.ZipFile(opened) as archive:
        for info in archive.infolist():
            if not info.is_dir() and is_visible(info.filename):
                pieces = _member(partial(_open_zipped, archive, info))
                yield Member(file.path, info.filename, _zip_time(info, file), pieces)


def _open_zipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if info.flag_bits & 1:
        raise DocumentError("PS0006", "the member is encrypted", 0, 0, "")
    return archive.open(info)


def _zip_time(info: zipfile.ZipInfo, file: Listed) -> datetime:
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return file.modified


def _tar_members(file: Listed, opened: IO[bytes]) -> Iterator[Member]:
    with tarfile.open(fileobj=opened, mode="r|") as archive:
        for info in archive:
            if info.isreg() and is_visible(info.name):
                modified = datetime.fromtimestamp(info.mtime, UTC)
                pieces = _member(partial(_extracted, archive, info))
                yield Member(file.path, info.name, modified, pieces)


def _extracted(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    opened = archive.extractfile(info)
    assert opened is not None, "a regular file has content"
    return opened


def _member(open_member: Callable[[], IO[bytes]]) -> Callable[[], Iterator[Piece]]:
    """Return what reads a member; damage inside it is an error of that member."""

    def raw() -> Iterator[Piece]:
        try:
            with open_member() as member:
                yield from _read(member)
        except (*_DAMAGE, NotImplementedError) as error:
            reason = f"the member is damaged: {error}"
            raise DocumentError("PS0006", reason, 0, 0, "") from None
        except OSError as error:
            raise _lost(error) from None

    return lambda: decompress(raw())


class _Reader:
    """Pieces as something to ``read`` from."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, count: int) -> bytes:
        parts = [self._rest]
        length = len(self._rest)
        while length < count and (piece := next(self._pieces, b"")):
            parts.append(bytes(piece))
            length += len(piece)
        data = b"".join(parts)
        self._rest = data[count:]
        return data[:count]


def _read(file: IO[bytes]) -> Iterator[Piece]:
    # What has arrived is read without waiting for more, where the file can do that.
    read: Callable[[int], bytes] = getattr(file, "read1", file.read)
    count = 0
    try:
        while piece := read(CHUNK_BYTES):
            count += len(piece)
            yield piece
    except OSError as error:
        raise _lost(error, count) from None


def _fail(error: DocumentError) -> Iterator[Piece]:
    raise error
    yield b""


def _lost(error: OSError, byte: int = 0) -> DocumentError:
    return unreadable(f"the file cannot be read: {error.strerror or error}", byte)
