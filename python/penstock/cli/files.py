"""Which documents the arguments of a command stand for."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fnmatch import fnmatch
from glob import has_magic
from io import BufferedReader, FileIO
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from penstock.errors import DocumentError
from penstock.kernel import WHOLE_BYTES_MAX
from penstock.results import Document
from penstock.sources.archives import is_archive
from penstock.sources.inputs import unreadable
from penstock.sources.listing import Listed, expand
from penstock.sources.records import documents_in, failed_document

STDIN = "-"

Advance = Callable[[int], None]
"""Called with the number of bytes that were read since the last call."""


def file_names(arguments: Iterable[str], name_glob: str | None = None) -> list[str]:
    """Return the files of arguments: files, folders with everything below, and globs.

    Names begin as they were given. In folders, names that begin with a dot or an underscore, and
    those that ``name_glob`` does not fit, are skipped. What leads nowhere stays as it is.
    """
    names: list[str] = []
    for argument in arguments:
        if argument == STDIN or not (os.path.exists(argument) or has_magic(argument)):
            names.append(argument)
            continue
        found = list(expand(argument))
        if name_glob is not None and found != [argument]:
            found = [name for name in found if fnmatch(os.path.basename(name), name_glob)]
        names += found or ([argument] if has_magic(argument) else [])
    return names


def are_several(names: list[str]) -> bool:
    """Return whether results may come from more than one document."""
    return len(names) > 1 or any(name != STDIN and is_archive(name) for name in names)


def size_of(name: str) -> int:
    """Return the bytes of a file; 0 if nobody knows."""
    try:
        return os.path.getsize(name)
    except OSError:
        return 0


def documents(
    names: Iterable[str], advance: Advance | None = None, stdin: IO[bytes] | None = None
) -> Iterator[Document]:
    """Yield the documents of files, ``-`` being standard input; members of archives are several.

    A file that is not there gives a document that fails. With ``advance``, reading is reported.
    """
    for name in names:
        for document in _documents(name, advance, stdin or sys.stdin.buffer):
            # The time of a file says nothing about what its document tells of.
            yield replace(document, time=None)


def _documents(name: str, advance: Advance | None, stdin: IO[bytes]) -> Iterator[Document]:
    if name == STDIN:
        yield from documents_in(stdin, Listed(STDIN, 0, 0))
        return
    if has_magic(name) and not os.path.exists(name):
        yield failed_document(name, unreadable("no file fits this glob"))
        return
    size = size_of(name)
    if is_archive(name):
        yield from _members(name, advance)
    elif advance is None or size <= WHOLE_BYTES_MAX:
        yield Document(Path(name), id=name)
        if advance is not None:
            advance(size)
    else:
        yield Document(cast("BinaryIO", _watched(name, advance)), id=name)


def _members(name: str, advance: Advance | None) -> Iterator[Document]:
    try:
        with _watched(name, advance or (lambda count: None)) as opened:
            yield from documents_in(opened, Listed.of(name))
    except OSError as error:
        reason: DocumentError = unreadable(f"{name} cannot be read: {error.strerror or error}")
        yield failed_document(name, reason)


def _watched(name: str, advance: Advance) -> BufferedReader:
    return BufferedReader(_WatchedFile(name, advance))


class _WatchedFile(FileIO):
    """A file that reports how much was read of it."""

    def __init__(self, name: str, advance: Advance) -> None:
        super().__init__(name)
        self._advance = advance

    def readinto(self, buffer: Any) -> int:
        count = super().readinto(buffer)
        self._advance(count)
        return count
