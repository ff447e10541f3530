"""Records as documents for an engine: split from files, folders, archives or anything else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO, BinaryIO, cast

from penstock.errors import DocumentError
from penstock.limits import Limits
from penstock.results import Document, Heartbeat
from penstock.sources.archives import Member, is_archive, members, members_of
from penstock.sources.damage import LeftOut
from penstock.sources.documents import Source, items
from penstock.sources.inputs import Input, Piece, Refused
from penstock.sources.intake import Damaged, Documents, Intake, Splitting
from penstock.sources.listing import Listed, list_files
from penstock.sources.paths import RecordPath


def records(
    source: Source,
    path: str | RecordPath,
    *,
    stream: str = "default",
    limits: Limits | None = None,
    documents: Documents = "one",
    damaged: Damaged = "stop",
) -> Iterator[Document | Heartbeat | Input]:
    """Yield the records of a source as documents, ready for ``Engine.run``.

    A record's id is that of its document with ``#`` and the record's number. A path may be a
    file, a folder, or a zip or tar archive; everything else is what ``Engine.run`` takes. A
    document that fails gives, after its records, a document that fails with the same error.
    Heartbeats, and documents whose event time is none, go through.

    With ``documents="many"`` a file may hold several documents, one after the other. With
    ``damaged="reject"`` a document that is not well-formed has no records, with ``"skip"`` all but
    the damaged ones; each stretch of bytes that is left out gives a document that fails.

    Raises:
        QueryError: The path is none.
        SettingError: ``documents`` or ``damaged`` has another value, or damage is to be skipped
            where a record cannot be told from any other element.
        FileNotFoundError: A path leads nowhere.
    """
    found = RecordPath(path) if isinstance(path, str) else path
    intake = Intake(documents, damaged, found)
    limits = limits or Limits()
    if isinstance(source, os.PathLike):
        for file in list_files([source]):
            yield from _of_file(file, intake, stream, limits)
        return
    for one in items(source):
        if isinstance(one, Heartbeat | Refused):
            yield one
            continue
        whole = Document(b"", one.document, one.stream, one.event_time)
        yield from _split(_begun(one), intake, limits, whole, one.encoding)


def documents(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], *, stream: str = "default"
) -> Iterator[Document]:
    """Yield the documents of files, folders, globs and archives, ready for ``Engine.run``.

    Raises:
        FileNotFoundError: A path leads nowhere.
    """
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    for file in list_files(given):
        yield from documents_of(file, stream=stream)


def documents_of(file: Listed, *, stream: str = "default") -> Iterator[Document]:
    """Yield the documents of one file: itself, or the members of an archive."""
    if not is_archive(file.path):
        # Small files are read whole, which members of archives never are.
        yield Document(Path(file.path), file.path, stream, file.modified)
        return
    yield from _as_documents(_guarded(members(file), file), stream)


def documents_in(opened: IO[bytes], file: Listed, *, stream: str = "default") -> Iterator[Document]:
    """Yield the documents of an open file, such as standard input; ``file`` describes it."""
    yield from _as_documents(_guarded(members_of(opened, file), file), stream)


def _as_documents(found: Iterable[Member], stream: str) -> Iterator[Document]:
    for member in found:
        data = _Pieces(member.pieces())
        yield Document(cast("BinaryIO", data), member.id, stream, member.modified)


def _of_file(
    file: Listed, intake: Intake, stream: str, limits: Limits
) -> Iterator[Document | Input]:
    for member in _guarded(members(file), file):
        whole = Document(b"", member.id, stream, member.modified)
        yield from _split(member.pieces(), intake, limits, whole)


def _guarded(found: Iterator[Member], file: Listed) -> Iterator[Member]:
    """Yield the members of a file; damage of the whole becomes a last member that fails."""
    try:
        yield from found
    except DocumentError as error:
        failure = error
        yield Member(file.path, "", file.modified, lambda: _raising(failure))


def _split(
    pieces: Iterator[Piece],
    intake: Intake,
    limits: Limits,
    whole: Document,
    encoding: str | None = None,
) -> Iterator[Document | Input]:
    """Yield the records of what an input holds, and what is wrong with it."""
    for number, own in intake.separate(pieces):
        document = whole if number is None else replace(whole, id=f"{whole.id}#{number}")
        splitting = intake.split(own, limits, encoding)
        try:
            for record in splitting.records():
                if splitting.has_stretches:
                    yield from _left_out(splitting, document, record.start)
                yield replace(document, data=record.xml, id=f"{document.id}#{record.number}")
        except DocumentError as error:
            yield replace(document, data=cast("BinaryIO", _Pieces(_raising(error))))
        yield from _left_out(splitting, document)


def _left_out(
    splitting: Splitting, document: Document, before: int | None = None
) -> Iterator[Input]:
    about = (document.id or "", document.stream, document.event_time)
    for stretch in splitting.take_stretches(before):
        yield LeftOut(*about, stretch)


def failed_document(name: str, error: DocumentError, stream: str = "default") -> Document:
    """Return a document that cannot be read, for a reason that is known already."""
    return Document(cast("BinaryIO", _Pieces(_raising(error))), name, stream)


class _Pieces:
    """Pieces as a binary file; an error of theirs is that of the document."""

    def __init__(self, pieces: Iterator[Piece]) -> None:
        self._pieces = pieces

    def read(self, count: int = -1) -> bytes:
        return bytes(next(self._pieces, b""))


def _raising(error: DocumentError) -> Iterator[Piece]:
    raise error
    yield b""


def _begun(source: Input) -> Iterator[Piece]:
    # A source that cannot even begin fails like one that fails later.
    yield from source.pieces()
